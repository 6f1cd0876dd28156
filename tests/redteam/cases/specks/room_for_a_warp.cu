// The places of a picture that stand out from the four beside them, and how many they are; in any order. A warp
// asks for room once.
__global__ void specks(const unsigned char* p, int* place, int* count, int w, int h, int limit) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    bool found = false;
    if (x < w && y < h) {
        int left = p[y * w + max(x - 1, 0)], right = p[y * w + min(x + 1, w - 1)];
        int above = p[max(y - 1, 0) * w + x], below = p[min(y + 1, h - 1) * w + x];
        found = abs(4 * p[y * w + x] - left - right - above - below) > limit;
    }
    unsigned all = __ballot_sync(0xffffffffu, found);
    int at = 0;
    if (threadIdx.x == 0 && all) at = atomicAdd(count, __popc(all));
    at = __shfl_sync(0xffffffffu, at, 0) + __popc(all & ((1u << threadIdx.x) - 1));
    if (found) place[at] = y * w + x;
}
