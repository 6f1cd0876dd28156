#include <cuda_runtime.h>
#include <cstdint>

typedef unsigned long long u64;

// Group by customer: visits, money spent (refunds are negative), the position of the latest purchase, and a tier.

__device__ int tier_of(int visits, long long spent)
{
    return (visits >= 10) + (spent >= 100000) + (visits > 0 && spent / visits >= 10000);
}

__global__ void prepare(int* visits, long long* spent, int* newest, int* latest, int customers)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= customers) return;
    visits[c] = 0;
    spent[c] = 0;
    newest[c] = -0x7fffffff - 1;
    latest[c] = -1;
}

__global__ void collect(const int* customer, const int* cents, const int* day, int* visits, long long* spent,
                        int* newest, int n, int customers)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int c = customer[i];
    if (c < 0 || c >= customers) return;
    atomicAdd(&visits[c], 1);
    atomicAdd((u64*)&spent[c], (u64)(long long)cents[i]);
    if (day[i] > newest[c]) atomicMax(&newest[c], day[i]);
}

// 32-bit atomics only: the newest day is known, now the position
__global__ void position(const int* customer, const int* day, const int* newest, int* latest, int n, int customers)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int c = customer[i];
    if (c >= 0 && c < customers && day[i] == newest[c]) latest[c] = i;
}

__global__ void grade(const int* visits, const long long* spent, uint8_t* tier, int customers)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c < customers) tier[c] = (uint8_t)tier_of(visits[c], spent[c]);
}

void loyalty(const int* customer, const int* cents, const int* day, int* visits, long long* spent, int* latest,
             uint8_t* tier, int n, int customers)
{
    int blocks = (customers + 255) / 256;
    int* newest;
    cudaMallocAsync(&newest, customers * sizeof(int), 0);
    prepare<<<blocks, 256>>>(visits, spent, newest, latest, customers);
    collect<<<(n + 255) / 256, 256>>>(customer, cents, day, visits, spent, newest, n, customers);
    position<<<(n + 255) / 256, 256>>>(customer, day, newest, latest, n, customers);
    grade<<<blocks, 256>>>(visits, spent, tier, customers);
    cudaFreeAsync(newest, 0);
}
