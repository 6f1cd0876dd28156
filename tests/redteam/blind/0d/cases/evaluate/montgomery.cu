// Montgomery multiplication instead of 64-bit remainders; values are kept below 2p and reduced once at the end.

constexpr unsigned P = 998244353u;
constexpr unsigned PINV = 998244351u;          // -1/P modulo 2^32
constexpr unsigned R2 = 932051910u;            // 2^64 modulo P

__device__ __forceinline__ unsigned redc(unsigned long long t)
{
    unsigned m = (unsigned)t * PINV;
    return (unsigned)((t + (unsigned long long)m * P) >> 32);        // below 2P
}

__global__ void evaluate(const unsigned* coef, const unsigned* place, unsigned* value, int rows, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const unsigned* c = coef + (long long)row * n;
    unsigned x = redc((unsigned long long)(place[row] % P) * R2);    // x * 2^32
    unsigned sum = 0;
    for (int i = 0; i < n; ++i) {
        unsigned a = c[i];
        a = a >= 2 * P ? a - 2 * P : a;        // below 2^32 - 2P
        a = a >= 2 * P ? a - 2 * P : a;
        a = a >= P ? a - P : a;
        unsigned t = redc((unsigned long long)sum * x);
        t = t >= P ? t - P : t;
        sum = t + a;
    }
    value[row] = sum > P ? sum - P : sum;
}
