#include <cuda_runtime.h>
#include <algorithm>
#include <cstdint>

typedef unsigned long long u64;

// Group by customer: visits, money spent (refunds are negative), the position of the latest purchase, and a tier.

// later days are larger, on one day later positions
__device__ long long key_of(int day, int i) { return day * 4294967296LL + i; }

#define NEVER (-0x7fffffffffffffffLL - 1)

__global__ void prepare(int* visits, long long* spent, long long* key, int customers)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= customers) return;
    visits[c] = 0;
    spent[c] = 0;
    key[c] = NEVER;
}

__global__ void collect(const int* customer, const int* cents, const int* day, int* visits, long long* spent,
                        long long* key, int n, int customers)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int c = customer[i];
    if (c < 0 || c >= customers) return;
    atomicAdd(&visits[c], 1);
    atomicAdd((u64*)&spent[c], (u64)(long long)cents[i]);
    atomicMax(&key[c], key_of(day[i], i));
}

// For few customers: groups of the block's own, merged at its end.
__global__ void __launch_bounds__(256) few(const int* customer, const int* cents, const int* day, int* visits,
                                           long long* spent, long long* key, int n, int customers)
{
    __shared__ long long best[512];
    __shared__ u64 money[512];
    __shared__ int count[512];
    for (int c = threadIdx.x; c < customers; c += 256) {
        best[c] = NEVER;
        money[c] = 0;
        count[c] = 0;
    }
    __syncthreads();
    for (long long i = blockIdx.x * 256LL + threadIdx.x; i < n; i += gridDim.x * 256LL) {
        int c = customer[i];
        if (c < 0 || c >= customers) continue;
        atomicAdd(&count[c], 1);
        atomicAdd(&money[c], (u64)(long long)cents[i]);
        long long k = key_of(day[i], (int)i);
        if (k > best[c]) atomicMax(&best[c], k);
    }
    __syncthreads();
    for (int c = threadIdx.x; c < customers; c += 256)
        if (count[c]) {
            atomicAdd(&visits[c], count[c]);
            atomicAdd((u64*)&spent[c], money[c]);
            atomicMax(&key[c], best[c]);
        }
}

__device__ int tier_of(int visits, long long spent)
{
    return (visits >= 10) + (spent >= 100000) + (visits > 0 && spent / visits >= 10000);
}

__global__ void grade(const int* visits, const long long* spent, const long long* key, int* latest, uint8_t* tier,
                      int customers)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= customers) return;
    latest[c] = visits[c] > 0 ? (int)(unsigned)key[c] : -1;
    tier[c] = (uint8_t)tier_of(visits[c], spent[c]);
}

void loyalty(const int* customer, const int* cents, const int* day, int* visits, long long* spent, int* latest,
             uint8_t* tier, int n, int customers)
{
    int blocks = (customers + 255) / 256;
    long long* key;
    cudaMallocAsync(&key, customers * sizeof(long long), 0);
    prepare<<<blocks, 256>>>(visits, spent, key, customers);
    if (customers <= 512)
        few<<<std::min((n + 2047) / 2048, 264), 256>>>(customer, cents, day, visits, spent, key, n, customers);
    else
        collect<<<(n + 255) / 256, 256>>>(customer, cents, day, visits, spent, key, n, customers);
    grade<<<blocks, 256>>>(visits, spent, key, latest, tier, customers);
    cudaFreeAsync(key, 0);
}
