// Bilateral netting of payments: what each member receives on balance, what it owes in all once the payments between
// every two members are set off against each other, and how many pairs of members are left with something to settle.
#include <cuda_runtime.h>
#include <cub/cub.cuh>

typedef long long money;

struct Sum {
    __host__ __device__ money operator()(money a, money b) const { return a + b; }
};

__global__ void make_keys(const int* payer, const int* payee, const int* amount, unsigned long long* keys,
                          money* values, int m, int n)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const int from = payer[i], to = payee[i];
    keys[i] = (unsigned long long)min(from, to) * m + max(from, to);
    values[i] = from == to ? 0 : from < to ? amount[i] : -amount[i];
}

__global__ void balances(const int* payer, const int* payee, const int* amount, money* net, int n)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    atomicAdd((unsigned long long*)&net[payee[i]], (unsigned long long)amount[i]);
    atomicAdd((unsigned long long*)&net[payer[i]], (unsigned long long)-(money)amount[i]);
}

__global__ void settle_pairs(const unsigned long long* keys, const money* sums, const int* runs, money* owed, int* links,
                             int m)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= *runs || sums[i] == 0)
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
    unsigned long long *keys, *sorted;
    money *values, *moved;
    int* runs;
    cudaMallocAsync(&keys, n * sizeof(*keys), 0);
    cudaMallocAsync(&sorted, n * sizeof(*sorted), 0);
    cudaMallocAsync(&values, n * sizeof(*values), 0);
    cudaMallocAsync(&moved, n * sizeof(*moved), 0);
    cudaMallocAsync(&runs, sizeof(*runs), 0);
    size_t sorting = 0, reducing = 0;
    cub::DeviceRadixSort::SortPairs(nullptr, sorting, keys, sorted, values, moved, n);
    cub::DeviceReduce::ReduceByKey(nullptr, reducing, sorted, keys, moved, values, runs, Sum(), n);
    const size_t bytes = sorting > reducing ? sorting : reducing;
    void* work;
    cudaMallocAsync(&work, bytes, 0);

    cudaMemsetAsync(net, 0, m * sizeof(*net), 0);
    cudaMemsetAsync(owed, 0, m * sizeof(*owed), 0);
    cudaMemsetAsync(links, 0, sizeof(*links), 0);
    const int blocks = (n + 255) / 256;
    balances<<<blocks, 256>>>(payer, payee, amount, net, n);
    make_keys<<<blocks, 256>>>(payer, payee, amount, keys, values, m, n);
    sorting = reducing = bytes;
    cub::DeviceRadixSort::SortPairs(work, sorting, keys, sorted, values, moved, n);
    cub::DeviceReduce::ReduceByKey(work, reducing, sorted, keys, moved, values, runs, Sum(), n);
    settle_pairs<<<blocks, 256>>>(keys, values, runs, owed, links, m);

    cudaFreeAsync(work, 0);
    cudaFreeAsync(runs, 0);
    cudaFreeAsync(moved, 0);
    cudaFreeAsync(values, 0);
    cudaFreeAsync(sorted, 0);
    cudaFreeAsync(keys, 0);
}
