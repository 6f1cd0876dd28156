#include <cstdint>

// Counters of two letters (x and x+128) share a word, 16 bits each.
__global__ void jumble(const uint8_t* left, const uint8_t* right, int* same, int rows, int n)
{
    __shared__ unsigned count[128];
    int row = blockIdx.x;
    if (row >= rows) return;
    const uint8_t* a = left + (long long)row * n;
    const uint8_t* b = right + (long long)row * n;
    for (int i = threadIdx.x; i < 128; i += blockDim.x) count[i] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        unsigned x = a[i], y = b[i];
        atomicAdd(&count[x & 127], x & 128 ? 0x10000u : 1u);
        atomicAdd(&count[y & 127], y & 128 ? 0xffff0000u : 0xffffffffu);
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        unsigned rest = 0;
        for (int i = threadIdx.x; i < 128; i += 32) rest |= count[i];
        unsigned any = __ballot_sync(0xffffffffu, rest != 0);
        if (threadIdx.x == 0) same[row] = any ? 0 : 1;
    }
}
