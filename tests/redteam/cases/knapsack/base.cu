// 0/1 knapsack: best[c] is the largest total value of a choice of items whose weights sum to at most c, for every
// capacity c from 0 to cap.
#include <cuda_runtime.h>

__global__ void empty(int* row, int cap)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c <= cap) row[c] = 0;
}

__global__ void __launch_bounds__(256) offer(const int* prev, int* next, const int* weight, const int* value, int item, int cap)
{
    int c = blockIdx.x * 256 + threadIdx.x;
    if (c > cap) return;
    int v = prev[c], w = weight[item];
    if (c >= w) v = max(v, prev[c - w] + value[item]);
    next[c] = v;
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
    for (int i = 0; i < items; ++i) {
        offer<<<blocks, 256>>>(prev, next, weight, value, i, cap);
        int* t = prev;
        prev = next;
        next = t;
    }
    cudaFree(other);
}
