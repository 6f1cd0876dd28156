#include <cuda_runtime.h>
#include <cstdint>

typedef unsigned long long u64;

// Group by customer: visits, money spent (refunds are negative), the position of the latest purchase, and a tier.

// later days are larger, on one day later positions
__device__ long long key_of(int day, int i) { return day * 4294967296LL + i; }

#define NEVER (-0x7fffffffffffffffLL - 1)

__device__ int tier_of(int visits, long long spent)
{
    return (visits >= 10) + (spent >= 100000) + (visits > 0 && spent / visits >= 10000);
}

__global__ void count(const int* customer, int* size, int n, int customers)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && customer[i] >= 0 && customer[i] < customers) atomicAdd(&size[customer[i]], 1);
}

// one block: exclusive prefix sums of the sizes
__global__ void __launch_bounds__(1024) starts(const int* size, int* start, int* fill, int customers)
{
    __shared__ int sums[1024];
    int t = threadIdx.x, carry = 0;
    for (int from = 0; from < customers; from += 1024) {
        int c = from + t, own = c < customers ? size[c] : 0;
        sums[t] = own;
        __syncthreads();
        for (int d = 1; d < 1024; d <<= 1) {
            int add = t >= d ? sums[t - d] : 0;
            __syncthreads();
            sums[t] += add;
            __syncthreads();
        }
        if (c < customers) start[c] = fill[c] = carry + sums[t] - own;
        carry += sums[1023];
        __syncthreads();
    }
}

__global__ void scatter(const int* customer, int* fill, int* order, int n, int customers)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && customer[i] >= 0 && customer[i] < customers) order[atomicAdd(&fill[customer[i]], 1)] = i;
}

// a warp a customer
__global__ void group(const int* order, const int* start, const int* size, const int* cents, const int* day,
                      int* visits, long long* spent, int* latest, uint8_t* tier, int customers)
{
    int c = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (c >= customers) return;
    long long money = 0, best = NEVER;
    for (int k = lane; k < size[c]; k += 32) {
        int i = order[start[c] + k];
        money += cents[i];
        best = max(best, key_of(day[i], i));
    }
    for (int d = 16; d > 0; d >>= 1) {
        money += __shfl_xor_sync(0xffffffffu, money, d);
        best = max(best, __shfl_xor_sync(0xffffffffu, best, d));
    }
    if (lane == 0) {
        visits[c] = size[c];
        spent[c] = money;
        latest[c] = size[c] ? (int)(unsigned)best : -1;
        tier[c] = (uint8_t)tier_of(size[c], money);
    }
}

void loyalty(const int* customer, const int* cents, const int* day, int* visits, long long* spent, int* latest,
             uint8_t* tier, int n, int customers)
{
    int *size, *start, *fill, *order;
    cudaMallocAsync(&size, customers * sizeof(int), 0);
    cudaMallocAsync(&start, customers * sizeof(int), 0);
    cudaMallocAsync(&fill, customers * sizeof(int), 0);
    cudaMallocAsync(&order, n * sizeof(int), 0);
    cudaMemsetAsync(size, 0, customers * sizeof(int), 0);
    count<<<(n + 255) / 256, 256>>>(customer, size, n, customers);
    starts<<<1, 1024>>>(size, start, fill, customers);
    scatter<<<(n + 255) / 256, 256>>>(customer, fill, order, n, customers);
    group<<<(customers + 7) / 8, 256>>>(order, start, size, cents, day, visits, spent, latest, tier, customers);
    cudaFreeAsync(size, 0);
    cudaFreeAsync(start, 0);
    cudaFreeAsync(fill, 0);
    cudaFreeAsync(order, 0);
}
