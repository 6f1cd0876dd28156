// One remainder for every six coefficients: the powers of x are below 2^30, so the products fit and the sum is reduced once.

constexpr unsigned P = 998244353u;

__global__ void evaluate(const unsigned* coef, const unsigned* place, unsigned* value, int rows, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const unsigned* c = coef + (long long)row * n;
    unsigned long long x = place[row] % P;
    unsigned long long x2 = x * x % P, x3 = x2 * x % P, x4 = x3 * x % P, x5 = x4 * x % P, x6 = x5 * x % P;
    unsigned long long sum = 0;
    int i = 0;
    for (; i + 6 <= n; i += 6)
        sum = (sum * x6 + c[i] * x5 + c[i + 1] * x4 + c[i + 2] * x3 + c[i + 3] * x2 + c[i + 4] * x + c[i + 5]) % P;
    for (; i < n; ++i)
        sum = (sum * x + c[i]) % P;
    value[row] = (unsigned)sum;
}
