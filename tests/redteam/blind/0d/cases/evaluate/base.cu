// Polynomials over the field of 998244353 elements: value[row] = sum of coef[row][i] * x[row]^(n-1-i), by Horner's rule.
// Coefficients and places may be any 32-bit numbers.

__device__ const unsigned prime = 998244353u;

__global__ void evaluate(const unsigned* coef, const unsigned* place, unsigned* value, int rows, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const unsigned* c = coef + (long long)row * n;
    unsigned long long x = place[row] % prime;
    unsigned long long sum = 0;
    for (int i = 0; i < n; ++i)
        sum = (sum * x + c[i]) % prime;
    value[row] = (unsigned)sum;
}
