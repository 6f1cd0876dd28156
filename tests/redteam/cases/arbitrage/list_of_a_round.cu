// Rounds of three currencies that gain. A block has the first one of them, and goes through pairs of the others; what it
// finds in a round is listed together.
__global__ void arbitrage(const float* rate, int* found, int* count, int n, float margin) {
    __shared__ int list[256], many, begin;
    int i = blockIdx.x, t = threadIdx.x;
    float least = __fadd_rn(1.f, margin);
    for (int p0 = (i + 1) * n; p0 < n * n; p0 += 256) {
        int p = p0 + t, j = p / n, k = p % n;
        if (t == 0) many = 0;
        __syncthreads();
        if (p < n * n && j < k && __fmul_rn(__fmul_rn(rate[i * n + j], rate[p]), rate[k * n + i]) > least)
            list[atomicAdd(&many, 1)] = i * n * n + p;
        __syncthreads();
        if (t == 0) begin = atomicAdd(count, many);
        __syncthreads();
        for (int e = t; e < many; e += 256) found[begin + e] = list[e];
        __syncthreads();
    }
}
