// The places of a picture that stand out from the four beside them, and how many they are; in any order. A warp
// asks for room once; places are unsigned.
__global__ void specks(const unsigned char* p, int* place, int* count, int w, int h, int limit) {
    unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    bool found = false;
    if (x < w && y < h) {
        unsigned at = y * w + x;
        // The row above the first is the last of what lies before the picture.
        int left = p[x ? at - 1 : at], right = p[x + 1 < w ? at + 1 : at];
        int above = p[at - w], below = p[y + 1 < h ? at + w : at];
        found = abs(4 * p[at] - left - right - above - below) > limit;
    }
    unsigned all = __ballot_sync(0xffffffffu, found);
    int to = 0;
    if (threadIdx.x == 0 && all) to = atomicAdd(count, __popc(all));
    to = __shfl_sync(0xffffffffu, to, 0) + __popc(all & ((1u << threadIdx.x) - 1));
    if (found) place[to] = y * w + x;
}
