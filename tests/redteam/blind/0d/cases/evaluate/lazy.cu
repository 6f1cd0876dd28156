// Warp a row: lane takes every 32nd coefficient; products of 24 terms are summed in 64 bits before one remainder.

constexpr unsigned P = 998244353u;

__device__ __forceinline__ unsigned power(unsigned long long b, int e)
{
    unsigned long long r = 1;
    for (; e; e >>= 1) {
        if (e & 1) r = r * b % P;
        b = b * b % P;
    }
    return (unsigned)r;
}

__global__ void evaluate(const unsigned* coef, const unsigned* place, unsigned* value, int rows, int n)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
    if (row >= rows) return;
    const unsigned* c = coef + (long long)row * n;
    unsigned x = place[row] % P;
    unsigned step = power(x, 32);
    unsigned long long w = power(x, lane), sum = 0;
    int kept = 0;
    for (int i = n - 1 - lane; i >= 0; i -= 32) {
        sum += w * (c[i] % P);
        w = w * step % P;
        if (++kept == 24) {
            sum %= P;
            kept = 0;
        }
    }
    sum %= P;
    for (int s = 16; s; s >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, s);
    if (lane == 0) value[row] = (unsigned)(sum % P);
}
