// Bilateral netting of payments: what each member receives on balance, what it owes in all once the payments between
// every two members are set off against each other, and how many pairs of members are left with something to settle.
#include <cuda_runtime.h>

typedef long long money;

constexpr unsigned long long EMPTY = ~0ull;

__global__ void balances(const int* payer, const int* payee, const int* amount, money* net, int n)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    atomicAdd((unsigned long long*)&net[payee[i]], (unsigned long long)amount[i]);
    atomicAdd((unsigned long long*)&net[payer[i]], (unsigned long long)-(money)amount[i]);
}

__device__ inline unsigned long long mixed(unsigned long long k)
{
    k ^= k >> 33;
    k *= 0xff51afd7ed558ccdull;
    k ^= k >> 33;
    k *= 0xc4ceb9fe1a85ec53ull;
    return k ^ k >> 33;
}

__global__ void gather_pairs(const int* payer, const int* payee, const int* amount, unsigned long long* keys,
                             money* sums, unsigned long long mask, int m, int n)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const int from = payer[i], to = payee[i];
    if (from == to)
        return;
    const unsigned long long key = (unsigned long long)min(from, to) * m + max(from, to);
    const money value = from < to ? amount[i] : -amount[i];
    for (unsigned long long h = mixed(key) & mask;; h = (h + 1) & mask) {
        unsigned long long there = *(volatile unsigned long long*)&keys[h];
        if (there == EMPTY)
            there = atomicCAS(&keys[h], EMPTY, key);
        if (there == EMPTY || there == key) {
            atomicAdd((unsigned long long*)&sums[h], (unsigned long long)value);
            return;
        }
    }
}

__global__ void settle_pairs(const unsigned long long* keys, const money* sums, unsigned long long slots, money* owed,
                             int* links, int m)
{
    const unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= slots || keys[i] == EMPTY || sums[i] == 0)
        return;
    const int low = (int)(keys[i] / m), high = (int)(keys[i] % m);
    if (sums[i] > 0)
        atomicAdd((unsigned long long*)&owed[low], (unsigned long long)sums[i]);
    else
        atomicAdd((unsigned long long*)&owed[high], (unsigned long long)-sums[i]);
    atomicAdd(links, 1);
}

void netting(const int* payer, const int* payee, const int* amount, money* net, money* owed, int* links, int m, int n)
{
    unsigned long long slots = 256;
    while (slots < 2ull * n)
        slots *= 2;
    unsigned long long* keys;
    money* sums;
    cudaMallocAsync(&keys, slots * sizeof(*keys), 0);
    cudaMallocAsync(&sums, slots * sizeof(*sums), 0);
    cudaMemsetAsync(keys, 0xff, slots * sizeof(*keys), 0);
    cudaMemsetAsync(sums, 0, slots * sizeof(*sums), 0);
    cudaMemsetAsync(net, 0, m * sizeof(*net), 0);
    cudaMemsetAsync(owed, 0, m * sizeof(*owed), 0);
    cudaMemsetAsync(links, 0, sizeof(*links), 0);
    const int blocks = (n + 255) / 256;
    balances<<<blocks, 256>>>(payer, payee, amount, net, n);
    gather_pairs<<<blocks, 256>>>(payer, payee, amount, keys, sums, slots - 1, m, n);
    settle_pairs<<<(unsigned)(slots / 256), 256>>>(keys, sums, slots, owed, links, m);
    cudaFreeAsync(sums, 0);
    cudaFreeAsync(keys, 0);
}
