// Signed ranks of paired samples, one block for each row: of the differences that are not zero, twice
// the sum of the ranks (by magnitude, alike ones share their mean) of the positive ones; the sum of
// t^3 - t over the groups of t alike; and how many there are. Shared memory for n floats.
__global__ void wilcoxon(const float* x, const float* y, long long* positive, long long* ties,
                         int* pairs, int n) {
    extern __shared__ double gap[];
    __shared__ unsigned long long sums[2];
    __shared__ int used;
    const size_t row = (size_t)blockIdx.x * n;
    if (threadIdx.x == 0) { sums[0] = 0; sums[1] = 0; used = 0; }
    for (int i = threadIdx.x; i < n; i += blockDim.x) gap[i] = (double)x[row + i] - y[row + i];
    __syncthreads();
    unsigned long long plus = 0, alike = 0;
    int mine = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        const double size = fabs(gap[i]);
        if (!(size > 0.0f)) continue;
        long long below = 0, equal = 0;
        for (int j = 0; j < n; ++j) {
            const double other = fabs(gap[j]);
            if (!(other > 0.0f)) continue;
            below += other < size;
            equal += other == size;
        }
        if (gap[i] > 0.0f) plus += 2 * below + equal + 1;
        alike += equal * equal - 1;
        ++mine;
    }
    atomicAdd(&sums[0], plus);
    atomicAdd(&sums[1], alike);
    atomicAdd(&used, mine);
    __syncthreads();
    if (threadIdx.x == 0) {
        positive[blockIdx.x] = sums[0];
        ties[blockIdx.x] = sums[1];
        pairs[blockIdx.x] = used;
    }
}
