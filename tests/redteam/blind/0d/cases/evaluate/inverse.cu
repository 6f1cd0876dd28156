// Warp a row, coalesced from the front: sum of c[i] * x^-i, multiplied by x^(n-1) at the end, so no lane needs to know where
// the row ends.

constexpr unsigned P = 998244353u;

__device__ __forceinline__ unsigned long long power(unsigned long long b, unsigned e)
{
    unsigned long long r = 1;
    b %= P;
    for (; e; e >>= 1) {
        if (e & 1) r = r * b % P;
        b = b * b % P;
    }
    return r;
}

__global__ void evaluate(const unsigned* coef, const unsigned* place, unsigned* value, int rows, int n)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
    if (row >= rows) return;
    const unsigned* c = coef + (long long)row * n;
    unsigned long long x = place[row];
    if (x == 0) {                              // no inverse: only the last coefficient counts
        if (lane == 0) value[row] = c[n - 1] % P;
        return;
    }
    unsigned long long inv = power(x, P - 2), w = power(inv, lane), step = power(inv, 32), sum = 0;
    for (int i = lane; i < n; i += 32) {
        sum = (sum + w * c[i]) % P;
        w = w * step % P;
    }
    for (int s = 16; s; s >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, s);
    if (lane == 0) value[row] = (unsigned)(sum % P * power(x, n - 1) % P);
}
