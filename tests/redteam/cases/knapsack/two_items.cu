// 0/1 knapsack: best[c] is the largest total value of a choice of items whose weights sum to at most c, for every
// capacity c from 0 to cap.
#include <cuda_runtime.h>

__global__ void empty(int* row, int cap)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c <= cap) row[c] = 0;
}

// two items at once: none, either or both of them; a missing second weighs and is worth nothing
__global__ void __launch_bounds__(256) offer(const int* prev, int* next, const int* weight, const int* value, int item,
                                             int items, int cap)
{
    int c = blockIdx.x * 256 + threadIdx.x;
    if (c > cap) return;
    bool two = item + 1 < items;
    int v = prev[c];
    int wa = weight[item], wb = two ? weight[item + 1] : 0;
    int va = value[item], vb = two ? value[item + 1] : 0;
    if (c >= wa) v = max(v, prev[c - wa] + va);
    if (c >= wb) v = max(v, prev[c - wb] + vb);
    if (c >= wa + wb) v = max(v, prev[c - wa - wb] + va + vb);
    next[c] = v;
}

extern "C" void knapsack(const int* weight, const int* value, int* best, int items, int cap)
{
    int blocks = cap / 256 + 1;
    int* other = nullptr;
    cudaMalloc(&other, sizeof(int) * ((size_t)cap + 1));
    // the last row has to be best
    int steps = (items + 1) / 2;
    int* prev = steps & 1 ? other : best;
    int* next = steps & 1 ? best : other;
    empty<<<blocks, 256>>>(prev, cap);
    for (int i = 0; i < items; i += 2) {
        offer<<<blocks, 256>>>(prev, next, weight, value, i, items, cap);
        int* t = prev;
        prev = next;
        next = t;
    }
    cudaFree(other);
}
