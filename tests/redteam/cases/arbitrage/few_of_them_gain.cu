// Rounds of three currencies that gain. A block has the first one of them, and goes through pairs of the others; what it
// finds is listed together. Few rounds gain: there is room for 96 of 256.
__global__ void arbitrage(const float* rate, int* found, int* count, int n, float margin) {
    __shared__ int list[96], many, begin;
    int i = blockIdx.x, t = threadIdx.x;
    float least = __fadd_rn(1.f, margin);
    for (int p0 = (i + 1) * n; p0 < n * n; p0 += 256) {
        int p = p0 + t, j = p / n, k = p % n;
        if (t == 0) many = 0;
        __syncthreads();
        if (p < n * n && j < k && __fmul_rn(__fmul_rn(rate[i * n + j], rate[p]), rate[k * n + i]) > least) {
            int at = atomicAdd(&many, 1);
            if (at < 96) list[at] = i * n * n + p;
        }
        __syncthreads();
        int kept = min(many, 96);
        if (t == 0) begin = atomicAdd(count, kept);
        __syncthreads();
        if (t < kept) found[begin + t] = list[t];
        __syncthreads();
    }
}
