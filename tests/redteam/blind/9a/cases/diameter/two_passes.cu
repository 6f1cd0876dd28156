#include <cuda_runtime.h>
#include <cstdint>

// First only the largest square, then the first pair that has it, as (i << 32 | j) by an atomic minimum.
__global__ void diameter(const int16_t* __restrict__ xs, const int16_t* __restrict__ ys, long long* __restrict__ squared,
                         int* __restrict__ ends, int sets, int n)
{
    __shared__ unsigned long long most, pair;
    const int16_t* x = xs + (size_t)blockIdx.x * n;
    const int16_t* y = ys + (size_t)blockIdx.x * n;
    if (threadIdx.x == 0) {
        most = 0;
        pair = ~0ull;
    }
    __syncthreads();
    unsigned long long mine = 0;
    for (int i = threadIdx.x; i < n; i += 128)
        for (int j = i + 1; j < n; ++j) {
            long long dx = x[i] - x[j], dy = y[i] - y[j];
            mine = max(mine, (unsigned long long)(dx * dx + dy * dy));
        }
    atomicMax(&most, mine);
    __syncthreads();
    unsigned long long top = most;
    if (top > 0 && mine == top) {
        bool found = false;
        for (int i = threadIdx.x; i < n && !found; i += 128)
            for (int j = i + 1; j < n && !found; ++j) {
                long long dx = x[i] - x[j], dy = y[i] - y[j];
                if ((unsigned long long)(dx * dx + dy * dy) == top) {
                    atomicMin(&pair, (unsigned long long)i << 32 | (unsigned)j);
                    found = true;
                }
            }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        squared[blockIdx.x] = (long long)top;
        ends[2 * blockIdx.x] = top ? (int)(pair >> 32) : 0;
        ends[2 * blockIdx.x + 1] = top ? (int)(pair & 0xffffffffu) : 0;
    }
}
