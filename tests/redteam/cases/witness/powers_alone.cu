// Which of these numbers are prime?
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

__constant__ unsigned char small[46] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83,
    89, 97, 101, 103, 107, 109, 113, 127, 131, 137, 139, 149, 151, 157, 163, 167, 173, 179, 181, 191, 193, 197, 199};

__global__ void witness(const unsigned* values, int* prime, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned value = values[i];
    int result = value > 1;
    for (int b = 0; b < 46 && result; ++b) {
        unsigned divisor = small[b];
        if (divisor * divisor > value)
            break;
        if (value % divisor == 0)
            result = 0;
    }
    if (result && value > 199 * 199) {
        unsigned last = value - 1;
        const unsigned bases[6] = {2, 3, 5, 7, 11, 13};
        for (int b = 0; b < 6 && result; ++b)
            result = powmod(bases[b], last, value) == 1;
    }
    prime[i] = result;
}
