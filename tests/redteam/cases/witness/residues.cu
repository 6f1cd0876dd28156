// Which of these numbers are prime? Miller and Rabin's test.
__device__ unsigned reduce(unsigned long long t, unsigned modulus, unsigned inverse)
{
    unsigned m = (unsigned)t * inverse;
    unsigned long long sum = t + (unsigned long long)m * modulus;
    unsigned r = (unsigned)(sum >> 32);
    return r >= modulus ? r - modulus : r;
}

__device__ bool passes(unsigned value, unsigned base)
{
    unsigned inverse = value;
    for (int i = 0; i < 4; ++i)
        inverse *= 2 - value * inverse;
    inverse = 0u - inverse;
    unsigned one = (unsigned)((1ull << 32) % value);
    unsigned minus = value - one;
    int twos = __ffs((int)(value - 1)) - 1;
    unsigned odd = (value - 1) >> twos;
    unsigned square = (unsigned)(((unsigned long long)base << 32) % value);
    unsigned x = one;
    while (odd != 0) {
        if (odd & 1)
            x = reduce((unsigned long long)x * square, value, inverse);
        square = reduce((unsigned long long)square * square, value, inverse);
        odd >>= 1;
    }
    if (x == one || x == minus)
        return true;
    for (int i = 1; i < twos; ++i) {
        x = reduce((unsigned long long)x * x, value, inverse);
        if (x == minus)
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
