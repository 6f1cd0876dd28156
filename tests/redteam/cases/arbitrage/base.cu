// Rounds of three currencies that gain more than a margin, by the rates from each to each. They are listed in any order.
__global__ void arbitrage(const float* rate, int* found, int* count, int n, float margin) {
    long long e = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    int i = (int)(e / n / n), j = (int)(e / n % n), k = (int)(e % n);
    if (i >= j || j >= k || e >= (long long)n * n * n) return;
    float all = __fmul_rn(__fmul_rn(rate[i * n + j], rate[j * n + k]), rate[k * n + i]);
    if (all > __fadd_rn(1.f, margin)) found[atomicAdd(count, 1)] = (i * n + j) * n + k;
}
