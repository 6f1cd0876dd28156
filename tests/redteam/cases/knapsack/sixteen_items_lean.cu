// 0/1 knapsack: best[c] is the largest total value of a choice of items whose weights sum to at most c, for every
// capacity c from 0 to cap.
#include <cuda_runtime.h>

__global__ void empty(int* row, int cap)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c <= cap) row[c] = 0;
}

// Sixteen items at once. Sixteen weights sum to 1600 and a few hundred: a block holds the 2720 capacities before its own
// 1024 in shared memory and loses a weight of them with each item.
constexpr int HALO = 2720;
constexpr int OWN = 1024;

__global__ void __launch_bounds__(512) offer(const int* prev, int* next, const int* weight, const int* value, int item,
                                             int items, int cap)
{
    __shared__ int row[2][HALO + OWN];
    long long first = (long long)blockIdx.x * OWN - HALO;   // the capacity of row[..][0]
    for (int k = threadIdx.x; k < HALO + OWN; k += 512) {
        long long c = first + k;
        row[0][k] = c >= 0 && c <= cap ? prev[c] : 0;
    }
    __syncthreads();
    int now = 0;
    for (int i = item; i < item + 16 && i < items; ++i) {
        int w = weight[i], g = value[i];
        for (int k = threadIdx.x; k < HALO + OWN; k += 512) {
            int v = row[now][k];
            if (k >= w && first + k >= w) v = max(v, row[now][k - w] + g);
            row[now ^ 1][k] = v;
        }
        __syncthreads();
        now ^= 1;
    }
    for (int k = threadIdx.x; k < OWN; k += 512)
        if (first + HALO + k <= cap) next[first + HALO + k] = row[now][HALO + k];
}

extern "C" void knapsack(const int* weight, const int* value, int* best, int items, int cap)
{
    int blocks = cap / 256 + 1, tiles = cap / OWN + 1;
    int* other = nullptr;
    cudaMalloc(&other, sizeof(int) * ((size_t)cap + 1));
    // the last row has to be best
    int steps = (items + 15) / 16;
    int* prev = steps & 1 ? other : best;
    int* next = steps & 1 ? best : other;
    empty<<<blocks, 256>>>(prev, cap);
    for (int i = 0; i < items; i += 16) {
        offer<<<tiles, 512>>>(prev, next, weight, value, i, items, cap);
        int* t = prev;
        prev = next;
        next = t;
    }
    cudaFree(other);
}
