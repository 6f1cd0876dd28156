// 0/1 knapsack: best[c] is the largest total value of a choice of items whose weights sum to at most c, for every
// capacity c from 0 to cap.
#include <cuda_runtime.h>

__global__ void empty(int* row, int cap)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c <= cap) row[c] = 0;
}

__device__ unsigned arrived;

// all blocks are on the device together, so they can wait for each other
__device__ void meet(unsigned goal)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(&arrived, 1u);
        while (*(volatile unsigned*)&arrived < goal) { }
        __threadfence();
    }
    __syncthreads();
}

// all items in one launch; the grid meets after each
__global__ void __launch_bounds__(256) offer_all(int* prev, int* next, const int* weight, const int* value, int items, int cap)
{
    for (int i = 0; i < items; ++i) {
        int w = weight[i], g = value[i];
        for (int c = blockIdx.x * 256 + threadIdx.x; c <= cap; c += gridDim.x * 256) {
            int v = __ldcg(prev + c);
            if (c >= w) v = max(v, __ldcg(prev + c - w) + g);
            __stcg(next + c, v);
        }
        meet((i + 1) * gridDim.x);
        int* t = prev;
        prev = next;
        next = t;
    }
}

extern "C" void knapsack(const int* weight, const int* value, int* best, int items, int cap)
{
    int blocks = cap / 256 + 1;
    int* other = nullptr;
    cudaMalloc(&other, sizeof(int) * ((size_t)cap + 1));
    // the last item's row has to be best
    int* prev = items & 1 ? other : best;
    int* next = items & 1 ? best : other;
    empty<<<blocks, 256>>>(prev, cap);
    int device = 0, units = 0, fit = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&units, cudaDevAttrMultiProcessorCount, device);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, offer_all, 256, 0);
    int grid = blocks < units * fit ? blocks : units * fit;
    void* args[] = { &prev, &next, &weight, &value, &items, &cap };
    // the counter starts from nothing
    static unsigned* counter = nullptr;
    if (!counter) cudaGetSymbolAddress((void**)&counter, arrived);
    cudaMemsetAsync(counter, 0, sizeof(unsigned));
    cudaLaunchCooperativeKernel((void*)offer_all, dim3(grid), dim3(256), args, 0, 0);
    cudaFree(other);
}
