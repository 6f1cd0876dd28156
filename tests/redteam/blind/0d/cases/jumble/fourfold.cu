#include <cstdint>

// Four letters' differences in one word: 64 counters instead of 256 to clear and to look at.
__global__ void jumble(const uint8_t* left, const uint8_t* right, int* same, int rows, int n)
{
    __shared__ unsigned count[64];
    int row = blockIdx.x;
    if (row >= rows) return;
    const uint8_t* a = left + (long long)row * n;
    const uint8_t* b = right + (long long)row * n;
    if (threadIdx.x < 64) count[threadIdx.x] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        unsigned x = a[i], y = b[i];
        if (x == y) continue;
        atomicAdd(&count[x >> 2], 1u << (8 * (x & 3)));
        atomicAdd(&count[y >> 2], 0u - (1u << (8 * (y & 3))));
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        unsigned rest = count[threadIdx.x] | count[threadIdx.x + 32];
        unsigned any = __ballot_sync(0xffffffffu, rest != 0);
        if (threadIdx.x == 0) same[row] = any ? 0 : 1;
    }
}
