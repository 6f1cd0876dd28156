// Which discs touch or overlap: pairs of their numbers, the lower one in the upper half, in any order, and how many.
__global__ void touching(const int* x, const int* y, const int* r, long long* pair, int* count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    for (int j = i + 1; j < n; ++j) {
        long long dx = x[i] - x[j], dy = y[i] - y[j], reach = r[i] + r[j];
        if (dx * dx + dy * dy <= reach * reach) pair[atomicAdd(count, 1)] = (long long)i << 32 | j;
    }
}
