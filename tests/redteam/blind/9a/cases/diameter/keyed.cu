#include <cuda_runtime.h>
#include <cstdint>

// One 64-bit key a pair, so that the reduction is a maximum: the square above, then the complements of i and j, 12 bits each.
__global__ void diameter(const int16_t* __restrict__ xs, const int16_t* __restrict__ ys, long long* __restrict__ squared,
                         int* __restrict__ ends, int sets, int n)
{
    __shared__ unsigned long long top[4];
    const int16_t* x = xs + (size_t)blockIdx.x * n;
    const int16_t* y = ys + (size_t)blockIdx.x * n;
    unsigned long long best = 0;
    for (int i = threadIdx.x; i < n; i += 128)
        for (int j = i + 1; j < n; ++j) {
            long long dx = x[i] - x[j], dy = y[i] - y[j];
            unsigned long long d = (unsigned long long)(dx * dx + dy * dy);
            unsigned long long key = d << 24 | (unsigned)(~i & 0xfff) << 12 | (unsigned)(~j & 0xfff);
            if (d > 0)
                best = max(best, key);
        }
    for (int o = 16; o; o >>= 1)
        best = max(best, __shfl_xor_sync(~0u, best, o));
    if ((threadIdx.x & 31) == 0)
        top[threadIdx.x >> 5] = best;
    __syncthreads();
    if (threadIdx.x == 0) {
        best = max(max(top[0], top[1]), max(top[2], top[3]));
        squared[blockIdx.x] = (long long)(best >> 24);
        ends[2 * blockIdx.x] = best ? (int)(~(best >> 12) & 0xfff) : 0;
        ends[2 * blockIdx.x + 1] = best ? (int)(~best & 0xfff) : 0;
    }
}
