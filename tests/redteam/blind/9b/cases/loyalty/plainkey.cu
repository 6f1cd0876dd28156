#include <cuda_runtime.h>
#include <cstdint>

typedef unsigned long long u64;

// Group by customer: visits, money spent (refunds are negative), the position of the latest purchase, and a tier.

// later days are larger, on one day later positions
__device__ u64 key_of(int day, int i) { return (u64)day << 32 | (unsigned)i; }

__global__ void prepare(int* visits, long long* spent, u64* key, int customers)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= customers) return;
    visits[c] = 0;
    spent[c] = 0;
    key[c] = 0;
}

__global__ void collect(const int* customer, const int* cents, const int* day, int* visits, long long* spent,
                        u64* key, int n, int customers)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int c = customer[i];
    if (c < 0 || c >= customers) return;
    atomicAdd(&visits[c], 1);
    atomicAdd((u64*)&spent[c], (u64)(long long)cents[i]);
    atomicMax(&key[c], key_of(day[i], i));
}

__device__ int tier_of(int visits, long long spent)
{
    return (visits >= 10) + (spent >= 100000) + (visits > 0 && spent / visits >= 10000);
}

__global__ void grade(const int* visits, const long long* spent, const u64* key, int* latest, uint8_t* tier,
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
    u64* key;
    cudaMallocAsync(&key, customers * sizeof(u64), 0);
    prepare<<<blocks, 256>>>(visits, spent, key, customers);
    collect<<<(n + 255) / 256, 256>>>(customer, cents, day, visits, spent, key, n, customers);
    grade<<<blocks, 256>>>(visits, spent, key, latest, tier, customers);
    cudaFreeAsync(key, 0);
}
