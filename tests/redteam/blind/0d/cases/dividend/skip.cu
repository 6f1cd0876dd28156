// Most owners get nothing where stakes are many: those are told by floats, without a 64-bit division.

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
    float most = (float)all, whole = (float)total;
    for (int i = threadIdx.x; i < n; i += 256) {
        unsigned x = s[i];
        out[i] = most * (float)x < whole ? 0u : (unsigned)((unsigned long long)all * x / total);
    }
}
