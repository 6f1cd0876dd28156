// The average price of each symbol, weighted by volume, and its volume in all, from a tape of n trades. Trades of a
// symbol that is not in [0, symbols) are left out. All sums are of 64 bits. No volume: the average is 0.
#include <cuda_runtime.h>

#include <algorithm>

using std::min;

// The last block to end divides.
__global__ void add_and_divide(const int* symbol, const int* price, const int* volume, unsigned long long* value,
                               unsigned long long* total, double* average, unsigned* ended, int n, int symbols)
{
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x) {
        int s = symbol[i];
        if (s < 0 || s >= symbols)
            continue;
        long long v = volume[i];
        atomicAdd(&value[s], (unsigned long long)(v * price[i]));
        atomicAdd(&total[s], (unsigned long long)v);
    }
    __shared__ bool last;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        last = atomicAdd(ended, 1u) == gridDim.x - 1;
    __syncthreads();
    if (!last)
        return;
    __threadfence();
    for (int s = threadIdx.x; s < symbols; s += blockDim.x) {
        long long paid = (long long)*(volatile unsigned long long*)&value[s];
        long long traded = (long long)*(volatile unsigned long long*)&total[s];
        average[s] = traded ? (double)paid / (double)traded : 0;
    }
}

extern "C" void vwap(const int* symbol, const int* price, const int* volume, double* average, unsigned long long* total,
                     int n, int symbols)
{
    if (symbols <= 0)
        return;
    unsigned long long* value;
    size_t bytes = sizeof(*value) * (size_t)symbols;
    if (cudaMalloc(&value, bytes + sizeof(unsigned)) != cudaSuccess)
        return;
    unsigned* ended = (unsigned*)(value + symbols);
    cudaMemsetAsync(value, 0, bytes + sizeof(unsigned));
    cudaMemsetAsync(total, 0, bytes);
    unsigned blocks = n > 0 ? (unsigned)min((n + 511ll) / 512, 1056ll) : 1;
    add_and_divide<<<blocks, 512>>>(symbol, price, volume, value, total, average, ended, n, symbols);
    cudaDeviceSynchronize();
    cudaFree(value);
}
