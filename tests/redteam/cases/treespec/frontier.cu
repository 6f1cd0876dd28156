// Verification of speculative decoding with a draft tree of 64 nodes per request: the deepest accepted node
// (the first of equal depth), its path's tokens, the model's pick after it, then -1.
// A warp per request, two nodes per lane: the accepted nodes of one depth are a 64-bit mask, and the last mask that is not
// empty holds the winner at its lowest bit.

#define NODES 64

extern "C" __global__ void treespec(const int* parent, const int* draft, const int* target,
                                    int* best, int* length, int* path, int n)
{
    int lane = threadIdx.x & 31;
    int r = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
    if (r >= n) return;
    size_t at = (size_t)r * NODES;
    int up0 = lane == 0 ? 0 : parent[at + lane] % lane;
    int up1 = parent[at + lane + 32] % (lane + 32);
    bool edge0 = lane != 0 && draft[at + lane] == target[at + up0];
    bool edge1 = draft[at + lane + 32] == target[at + up1];
    unsigned long long level = 1, deepest = 1;
    int len = -1;
    while (level != 0) {
        deepest = level;
        ++len;
        unsigned low = __ballot_sync(0xffffffffu, edge0 && (level >> up0 & 1));
        unsigned high = __ballot_sync(0xffffffffu, edge1 && (level >> up1 & 1));
        level = (unsigned long long)high << 32 | low;
    }
    int b = __ffsll((long long)deepest) - 1;
    int kept0 = -1, kept1 = -1;
    if (lane == len) kept0 = target[at + b];
    if (lane + 32 == len) kept1 = target[at + b];
    for (int v = b, k = len - 1; k >= 0; --k) {
        if (lane == k) kept0 = draft[at + v];
        if (lane + 32 == k) kept1 = draft[at + v];
        int a = __shfl_sync(0xffffffffu, up0, v & 31), c = __shfl_sync(0xffffffffu, up1, v & 31);
        v = v < 32 ? a : c;
    }
    path[at + lane] = kept0;
    path[at + lane + 32] = kept1;
    if (lane == 0) {
        best[r] = b;
        length[r] = len + 1;
    }
}
