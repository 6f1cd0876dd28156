#include <cuda_runtime.h>

// Two limbs at once in 64 bits; an odd one at the top by itself.
__global__ void summand(const unsigned* a, const unsigned* b, unsigned* sum,
                        unsigned* carry, int rows, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;

    const unsigned* ar = a + (size_t)row * n;
    const unsigned* br = b + (size_t)row * n;
    unsigned* sr = sum + (size_t)row * n;

    unsigned c = 0;
    int i = 0;
    for (; i + 2 <= n; i += 2) {
        unsigned long long x = ar[i] | ((unsigned long long)ar[i + 1] << 32);
        unsigned long long y = br[i] | ((unsigned long long)br[i + 1] << 32);
        unsigned long long s = x + y;
        unsigned over = s < x;
        s += c;
        c = over | (s < c);
        sr[i] = (unsigned)s;
        sr[i + 1] = (unsigned)(s >> 32);
    }
    if (i < n) {
        unsigned long long s = (unsigned long long)ar[i] + br[i];
        sr[i] = (unsigned)s + c;
        c = (unsigned)(s >> 32);
    }
    carry[row] = c;
}
