#include <cuda_runtime.h>
#include <cstdint>

typedef unsigned long long u64;

// Group by customer: visits, money spent (refunds are negative), the position of the latest purchase, and a tier.

// later days are larger, on one day later positions
__device__ long long key_of(int day, int i) { return day * 4294967296LL + i; }

#define NEVER (-0x7fffffffffffffffLL - 1)

// visits in the upper 20 bits, money in the lower 44 (two's complement): one atomic for both
__global__ void prepare(u64* both, long long* key, int customers)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= customers) return;
    both[c] = 0;
    key[c] = NEVER;
}

__global__ void collect(const int* customer, const int* cents, const int* day, u64* both, long long* key, int n,
                        int customers)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int c = customer[i];
    if (c < 0 || c >= customers) return;
    atomicAdd(&both[c], ((u64)1 << 44) + (u64)(long long)cents[i]);
    atomicMax(&key[c], key_of(day[i], i));
}

__device__ int tier_of(int visits, long long spent)
{
    return (visits >= 10) + (spent >= 100000) + (visits > 0 && spent / visits >= 10000);
}

__global__ void grade(const u64* both, const long long* key, int* visits, long long* spent, int* latest, uint8_t* tier,
                      int customers)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= customers) return;
    long long money = (long long)(both[c] << 20) >> 20;
    int count = (int)((both[c] - (u64)money) >> 44);
    visits[c] = count;
    spent[c] = money;
    latest[c] = count > 0 ? (int)(unsigned)key[c] : -1;
    tier[c] = (uint8_t)tier_of(count, money);
}

void loyalty(const int* customer, const int* cents, const int* day, int* visits, long long* spent, int* latest,
             uint8_t* tier, int n, int customers)
{
    int blocks = (customers + 255) / 256;
    long long* key;
    u64* both;
    cudaMallocAsync(&key, customers * sizeof(long long), 0);
    cudaMallocAsync(&both, customers * sizeof(u64), 0);
    prepare<<<blocks, 256>>>(both, key, customers);
    collect<<<(n + 255) / 256, 256>>>(customer, cents, day, both, key, n, customers);
    grade<<<blocks, 256>>>(both, key, visits, spent, latest, tier, customers);
    cudaFreeAsync(key, 0);
    cudaFreeAsync(both, 0);
}
