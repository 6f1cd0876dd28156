// One reciprocal a row; the estimated quotient is put right by the remainder.

__device__ __forceinline__ unsigned long long total_of(const unsigned* s, int n, unsigned long long* part)
{
    unsigned long long sum = 0;
    for (int i = threadIdx.x; i < n; i += 256) sum += s[i];
    for (int d = 16; d; d >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if ((threadIdx.x & 31) == 0) part[threadIdx.x >> 5] = sum;
    __syncthreads();
    sum = 0;
    for (int w = 0; w < 8; ++w) sum += part[w];
    return sum;
}

__global__ void dividend(const unsigned* pool, const unsigned* stake, unsigned* share, int rows, int n)
{
    __shared__ unsigned long long part[8];
    int row = blockIdx.x;
    if (row >= rows) return;
    const unsigned* s = stake + (long long)row * n;
    unsigned* out = share + (long long)row * n;
    unsigned long long total = total_of(s, n, part);
    if (total == 0) {
        for (int i = threadIdx.x; i < n; i += 256) out[i] = 0;
        return;
    }
    unsigned all = pool[row];
    double inverse = 1.0 / (double)total;
    for (int i = threadIdx.x; i < n; i += 256) {
        unsigned long long product = (unsigned long long)all * s[i];
        unsigned long long q = (unsigned long long)((double)product * inverse);
        if (product - q * total >= total) ++q;
        out[i] = (unsigned)q;
    }
}
