// Which discs touch or overlap: pairs of their numbers, the lower one in the upper half, in any order, and how many.
__global__ void touching(const int* x, const int* y, const int* r, long long* pair, int* count, int n) {
    // Tiles of 128 by 128 discs; a block keeps what it finds and asks once for room, for what it cannot keep at once.
    __shared__ int sx[128], sy[128], sr[128], many, first;
    __shared__ long long kept[512];
    if (blockIdx.y > blockIdx.x) return;
    int t = threadIdx.x, i = blockIdx.y * 128 + t, from = blockIdx.x * 128;
    if (from + t < n) sx[t] = x[from + t], sy[t] = y[from + t], sr[t] = r[from + t];
    if (t == 0) many = 0;
    __syncthreads();
    if (i < n) {
        int px = x[i], py = y[i], pr = r[i];
        for (int k = max(i + 1 - from, 0); k < min(128, n - from); ++k) {
            // Below 32000 each way: the sum of both squares has 31 bits.
            int dx = px - sx[k], dy = py - sy[k], reach = pr + sr[k];
            if (dx * dx + dy * dy > reach * reach) continue;
            int at = atomicAdd(&many, 1);
            long long both = (long long)i << 32 | (from + k);
            if (at < 512) kept[at] = both;
            else pair[atomicAdd(count, 1)] = both;
        }
    }
    __syncthreads();
    int some = min(many, 512);
    if (t == 0 && some) first = atomicAdd(count, some);
    __syncthreads();
    for (int k = t; k < some; k += 128) pair[first + k] = kept[k];
}
