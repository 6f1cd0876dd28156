#include <cuda_runtime.h>

// A block per row, 256 limbs at a time. Carries by a prefix scan over
// (generate, propagate) in shared memory.
__global__ void summand(const unsigned* a, const unsigned* b, unsigned* sum,
                        unsigned* carry, int rows, int n)
{
    __shared__ unsigned char g[256], p[256];
    int row = blockIdx.x, t = threadIdx.x;
    const unsigned* ar = a + (size_t)row * n;
    const unsigned* br = b + (size_t)row * n;
    unsigned* sr = sum + (size_t)row * n;

    unsigned cin = 0;
    for (int base = 0; base < n; base += 256) {
        int i = base + t;
        unsigned x = i < n ? ar[i] : 0u, y = i < n ? br[i] : 0xffffffffu;
        unsigned s = x + y;
        unsigned gen = s < x, pass = s == 0xffffffffu;
        if (t == 0) gen |= pass & cin;
        g[t] = gen;
        p[t] = pass;
        __syncthreads();
        for (int d = 1; d < 128; d <<= 1) {
            unsigned g0 = t >= d ? g[t - d] : 0u, p0 = t >= d ? p[t - d] : 0u;
            __syncthreads();
            gen |= pass & g0;
            pass &= p0;
            g[t] = gen;
            p[t] = pass;
            __syncthreads();
        }
        if (i < n) sr[i] = s + (t > 0 ? g[t - 1] : cin);
        cin = g[min(n - base, 256) - 1];
        __syncthreads();
    }
    if (t == 0) carry[row] = cin;
}
