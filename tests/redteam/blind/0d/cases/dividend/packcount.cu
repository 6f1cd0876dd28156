// Sum (48 bits) and number of owners (16 bits) in one reduction: a single owner takes the pool without division.

__global__ void dividend(const unsigned* pool, const unsigned* stake, unsigned* share, int rows, int n)
{
    __shared__ unsigned long long part[8];
    int row = blockIdx.x;
    if (row >= rows) return;
    const unsigned* s = stake + (long long)row * n;
    unsigned* out = share + (long long)row * n;
    unsigned long long both = 0;
    for (int i = threadIdx.x; i < n; i += 256) {
        unsigned x = s[i];
        both += x ? 1ull << 48 | x : 0ull;
    }
    for (int d = 16; d; d >>= 1) both += __shfl_xor_sync(0xffffffffu, both, d);
    if ((threadIdx.x & 31) == 0) part[threadIdx.x >> 5] = both;
    __syncthreads();
    both = 0;
    for (int w = 0; w < 8; ++w) both += part[w];
    unsigned long long total = both & 0xffffffffffffull;
    unsigned owners = (unsigned)(both >> 48), all = pool[row];
    for (int i = threadIdx.x; i < n; i += 256) {
        unsigned x = s[i];
        out[i] = x == 0 ? 0u : owners == 1 ? all : (unsigned)((unsigned long long)all * x / total);
    }
}
