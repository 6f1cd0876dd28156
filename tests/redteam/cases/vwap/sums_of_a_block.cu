// The average price of each symbol, weighted by volume, and its volume in all, from a tape of n trades. Trades of a
// symbol that is not in [0, symbols) are left out. All sums are of 64 bits. No volume: the average is 0.
#include <cuda_runtime.h>

__global__ void add_trades(const int* symbol, const int* price, const int* volume, unsigned long long* value,
                           unsigned long long* total, int n, int symbols)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int s = symbol[i];
    if (s < 0 || s >= symbols)
        return;
    long long v = volume[i];
    atomicAdd(&value[s], (unsigned long long)(v * price[i]));
    atomicAdd(&total[s], (unsigned long long)v);
}

// The sums of a block of trades in shared memory, 16 bytes to a symbol; each block hands on those that it met.
__global__ void add_in_shared(const int* symbol, const int* price, const int* volume, unsigned long long* value,
                              unsigned long long* total, int n, int symbols)
{
    extern __shared__ unsigned long long sums[];
    for (int e = threadIdx.x; e < 2 * symbols; e += blockDim.x)
        sums[e] = 0;
    __syncthreads();
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x) {
        int s = symbol[i];
        if (s < 0 || s >= symbols)
            continue;
        long long v = volume[i];
        atomicAdd(&sums[2 * s], (unsigned long long)(v * price[i]));
        atomicAdd(&sums[2 * s + 1], (unsigned long long)v);
    }
    __syncthreads();
    for (int s = threadIdx.x; s < symbols; s += blockDim.x) {
        if (sums[2 * s])
            atomicAdd(&value[s], sums[2 * s]);
        if (sums[2 * s + 1])
            atomicAdd(&total[s], sums[2 * s + 1]);
    }
}

__global__ void divide(const unsigned long long* value, const unsigned long long* total, double* average, int symbols)
{
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s < symbols)
        average[s] = total[s] ? (double)(long long)value[s] / (double)(long long)total[s] : 0;
}

extern "C" void vwap(const int* symbol, const int* price, const int* volume, double* average, unsigned long long* total,
                     int n, int symbols)
{
    if (symbols <= 0)
        return;
    unsigned long long* value;
    if (cudaMalloc(&value, sizeof(*value) * (size_t)symbols) != cudaSuccess)
        return;
    cudaMemset(value, 0, sizeof(*value) * (size_t)symbols);
    cudaMemset(total, 0, sizeof(*total) * (size_t)symbols);
    // More symbols than shared memory holds: straight to the sums.
    size_t bytes = 16 * (size_t)symbols;
    if (n > 0 && symbols <= 6144 &&
        cudaFuncSetAttribute(add_in_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes) == cudaSuccess)
        add_in_shared<<<264, 1024, bytes>>>(symbol, price, volume, value, total, n, symbols);
    else if (n > 0)
        add_trades<<<(unsigned)((n + 255ll) / 256), 256>>>(symbol, price, volume, value, total, n, symbols);
    divide<<<(symbols + 127) / 128, 128>>>(value, total, average, symbols);
    cudaDeviceSynchronize();
    cudaFree(value);
}
