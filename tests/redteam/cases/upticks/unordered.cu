// Positions of the upticks of a series: all i > 0 with price[i] > price[i-1], in rising order; the rest of `at` is
// filled with -1, and count[0] is their number.
#include <cuda_runtime.h>

constexpr int TILE = 256;

__device__ __forceinline__ bool uptick(const float* price, int i, int n)
{
    return i > 0 && i < n && price[i] > price[i - 1];
}

// Number of set flags before this thread in its block, and in the whole block.
__device__ __forceinline__ int rankOf(bool flag, int& all)
{
    __shared__ int warps[TILE / 32];
    unsigned votes = __ballot_sync(~0u, flag);
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (lane == 0)
        warps[warp] = __popc(votes);
    __syncthreads();
    int before = 0;
    all = 0;
    for (int w = 0; w < TILE / 32; w++) {
        if (w < warp)
            before += warps[w];
        all += warps[w];
    }
    return before + __popc(votes & ((1u << lane) - 1));
}

__global__ void onepass(const float* price, int* at, int* count, int n)
{
    __shared__ int before;
    int i = blockIdx.x * TILE + threadIdx.x;
    int all;
    bool up = uptick(price, i, n);
    int rank = rankOf(up, all);
    if (threadIdx.x == 0)
        before = atomicAdd(count, all);
    __syncthreads();
    if (up)
        at[before + rank] = i;
}

extern "C" void upticks(const float* price, int* at, int* count, int n)
{
    cudaMemsetAsync(at, 0xff, (size_t)n * sizeof(int), 0);
    cudaMemsetAsync(count, 0, sizeof(int), 0);
    onepass<<<(n + TILE - 1) / TILE, TILE>>>(price, at, count, n);
}
