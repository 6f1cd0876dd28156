#include <cuda_runtime.h>

// Sum of two long numbers a row: n limbs of 32 bits, least significant first.
// carry[row] is what runs out at the top.

__global__ void summand(const unsigned* a, const unsigned* b, unsigned* sum,
                        unsigned* carry, int rows, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;

    const unsigned* ar = a + (size_t)row * n;
    const unsigned* br = b + (size_t)row * n;
    unsigned* sr = sum + (size_t)row * n;

    unsigned long long c = 0;
    for (int i = 0; i < n; ++i) {
        c += (unsigned long long)ar[i] + br[i];
        sr[i] = (unsigned)c;
        c >>= 32;
    }
    carry[row] = (unsigned)c;
}
