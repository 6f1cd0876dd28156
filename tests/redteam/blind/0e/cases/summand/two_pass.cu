#include <cuda_runtime.h>

// A block per row, each thread adds its own stretch of limbs; then the carry
// of the stretch below is rippled into it.
__global__ void summand(const unsigned* a, const unsigned* b, unsigned* sum,
                        unsigned* carry, int rows, int n)
{
    __shared__ unsigned out[128];
    int row = blockIdx.x, t = threadIdx.x;
    const unsigned* ar = a + (size_t)row * n;
    const unsigned* br = b + (size_t)row * n;
    unsigned* sr = sum + (size_t)row * n;

    int per = (n + 127) / 128;
    int lo = min(t * per, n), hi = min(lo + per, n);
    unsigned long long c = 0;
    for (int i = lo; i < hi; ++i) {
        c += (unsigned long long)ar[i] + br[i];
        sr[i] = (unsigned)c;
        c >>= 32;
    }
    out[t] = (unsigned)c;
    __syncthreads();

    unsigned r = t > 0 ? out[t - 1] : 0u;
    for (int i = lo; i < hi && r; ++i) {
        unsigned s = sr[i] + 1u;
        sr[i] = s;
        r = s == 0u;
    }
    if (hi == n && lo < hi) carry[row] = (unsigned)c | r;
}
