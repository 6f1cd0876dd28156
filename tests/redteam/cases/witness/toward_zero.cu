// Which of these numbers are prime? Miller and Rabin's test.
__device__ unsigned times(unsigned a, unsigned b, unsigned modulus, double inverse)
{
    unsigned long long product = (unsigned long long)a * b;
    double quotient = __dmul_rz(__dmul_rz((double)a, (double)b), inverse);
    unsigned rest = (unsigned)product - (unsigned)quotient * modulus;
    return rest >= modulus ? rest - modulus : rest;
}

__device__ unsigned powmod(unsigned base, unsigned exponent, unsigned modulus, double inverse)
{
    unsigned result = 1, square = base % modulus;
    while (exponent != 0) {
        if (exponent & 1)
            result = times(result, square, modulus, inverse);
        square = times(square, square, modulus, inverse);
        exponent >>= 1;
    }
    return result;
}

__device__ bool passes(unsigned value, unsigned base)
{
    double inverse = __drcp_rz((double)value);
    unsigned odd = value - 1;
    int twos = 0;
    while ((odd & 1) == 0) {
        odd >>= 1;
        ++twos;
    }
    unsigned x = powmod(base, odd, value, inverse);
    if (x == 1 || x == value - 1)
        return true;
    for (int i = 1; i < twos; ++i) {
        x = times(x, x, value, inverse);
        if (x == value - 1)
            return true;
    }
    return false;
}

__global__ void witness(const unsigned* values, int* prime, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned value = values[i];
    const unsigned bases[4] = {2, 3, 5, 7};
    int result = value > 1;
    for (int b = 0; b < 4 && result; ++b) {
        if (value == bases[b])
            break;
        if (value % bases[b] == 0 || !passes(value, bases[b]))
            result = 0;
    }
    prime[i] = result;
}
