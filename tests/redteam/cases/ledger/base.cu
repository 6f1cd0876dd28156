#include <cuda_runtime.h>

// Each payment moves an amount from an account to another.
__global__ void post(const int* from, const int* to, const int* amount, unsigned long long* balance, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    atomicAdd(&balance[from[i]], 0ull - (unsigned long long)amount[i]);
    atomicAdd(&balance[to[i]], (unsigned long long)amount[i]);
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
    post<<<(n + 255) / 256, 256>>>(from, to, amount, (unsigned long long*)balance, n);
    debts<<<16, 256>>>(balance, owing, count);
}
