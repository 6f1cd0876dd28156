// Remainders by a double reciprocal: quotient estimate, then one correction of the remainder.

constexpr unsigned P = 998244353u;

__device__ __forceinline__ unsigned long long reduce(unsigned long long t)
{
    unsigned long long q = (unsigned long long)((double)t * 1.001758734717330e-9);
    long long r = (long long)(t - q * P);
    return r < 0 ? r + P : r;                  // the estimate may be one too large
}

__global__ void evaluate(const unsigned* coef, const unsigned* place, unsigned* value, int rows, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const unsigned* c = coef + (long long)row * n;
    unsigned long long x = place[row] % P;
    unsigned long long sum = 0;
    for (int i = 0; i < n; ++i)
        sum = reduce(sum * x + c[i]);
    value[row] = (unsigned)sum;
}
