// Which of these numbers are prime? Miller and Rabin's test.
__device__ unsigned powmod(unsigned base, unsigned exponent, unsigned modulus)
{
    unsigned long long result = 1, square = base % modulus;
    while (exponent != 0) {
        if (exponent & 1)
            result = result * square % modulus;
        square = square * square % modulus;
        exponent >>= 1;
    }
    return (unsigned)result;
}

__device__ bool passes(unsigned value, unsigned base)
{
    unsigned odd = value - 1;
    int twos = 0;
    while ((odd & 1) == 0) {
        odd >>= 1;
        ++twos;
    }
    unsigned long long x = powmod(base, odd, value);
    if (x == 1 || x == value - 1)
        return true;
    for (int i = 1; i < twos; ++i) {
        x = x * x % value;
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
    const unsigned bases[3] = {2, 3, 5};
    int result = value > 1;
    for (int b = 0; b < 3 && result; ++b) {
        if (value == bases[b])
            break;
        if (value % bases[b] == 0 || !passes(value, bases[b]))
            result = 0;
    }
    prime[i] = result;
}
