#include <cuda_runtime.h>
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

// eight purchases a thread; those of one customer in a row are put together first (the log is in order)
__global__ void collect(const int* customer, const int* cents, const int* day, int* visits, long long* spent,
                        long long* key, int n, int customers)
{
    long long from = (blockIdx.x * (long long)blockDim.x + threadIdx.x) * 8;
    if (from >= n) return;
    int stop = (int)min(from + 8, (long long)n), held = -1, count = 0;
    long long money = 0, best = NEVER;
    for (int i = (int)from; i <= stop; i++) {
        int c = i < stop ? customer[i] : -1;
        if (c >= customers) c = -1;
        if (c != held) {
            if (held >= 0) {
                atomicAdd(&visits[held], count);
                atomicAdd((u64*)&spent[held], (u64)money);
                if (best > key[held]) atomicMax(&key[held], best);
            }
            held = c;
            count = 0;
            money = 0;
            best = NEVER;
        }
        if (c >= 0) {
            count++;
            money += cents[i];
            best = key_of(day[i], i);
        }
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
    collect<<<(n + 2047) / 2048, 256>>>(customer, cents, day, visits, spent, key, n, customers);
    grade<<<blocks, 256>>>(visits, spent, key, latest, tier, customers);
    cudaFreeAsync(key, 0);
}
