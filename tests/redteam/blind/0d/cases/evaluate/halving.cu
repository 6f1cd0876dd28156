// Even and odd coefficients in two chains with x*x; exponents for the chains' starts by Fermat modulo p - 1; a chain whose
// place is 1 is a plain sum.

constexpr unsigned P = 998244353u;

__global__ void evaluate(const unsigned* coef, const unsigned* place, unsigned* value, int rows, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const unsigned* c = coef + (long long)row * n;
    unsigned long long x = place[row] % P, xx = x * x % P;
    int i = 0;
    unsigned long long even = 0, odd = 0;
    if (n & 1) even = c[i++] % P;
    if (xx == 1) {                             // x is 1 or p-1: sums without products
        unsigned plus = (unsigned)even, minus = 0;
        for (; i < n; i += 2) {
            minus += c[i] % P;
            plus += c[i + 1] % P;
            minus = min(minus, minus - P);     // reduce
            plus = min(plus, plus - P);
        }
        value[row] = x == 1 ? (plus + minus) % P : plus >= minus ? plus - minus : minus - plus;
        return;
    }
    for (; i < n; i += 2) {
        odd = (odd * xx + c[i]) % P;
        even = (even * xx + c[i + 1]) % P;
    }
    value[row] = (unsigned)((odd * x + even) % P);
}
