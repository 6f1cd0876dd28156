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
    int twos = __ffs((int)(value - 1)) - 1;
    unsigned odd = (value - 1) >> twos;
    unsigned long long x = powmod(base, odd, value);
    if (x == 1 || x == value - 1)
        return true;
    bool found = false;
#pragma unroll
    for (int i = 1; i < 24; ++i) {
        if (i < twos && !found) {
            x = x * x % value;
            found = x == value - 1;
        }
    }
    return found;
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
