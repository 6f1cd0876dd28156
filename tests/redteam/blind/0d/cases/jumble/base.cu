// Are two texts rearrangements of each other?  One block a pair of rows.
#include <cstdint>

__global__ void jumble(const uint8_t* left, const uint8_t* right, int* same, int rows, int n)
{
    __shared__ int count[256];
    __shared__ int differ;
    int row = blockIdx.x;
    if (row >= rows) return;
    const uint8_t* a = left + (long long)row * n;
    const uint8_t* b = right + (long long)row * n;
    for (int i = threadIdx.x; i < 256; i += blockDim.x) count[i] = 0;
    if (threadIdx.x == 0) differ = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        atomicAdd(&count[a[i]], 1);
        atomicAdd(&count[b[i]], -1);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        if (count[i] != 0) differ = 1;
    __syncthreads();
    if (threadIdx.x == 0) same[row] = differ ? 0 : 1;
}
