// Histogram of 8-bit samples: how often does each of the 256 values occur?
#include <cstdint>
#include <cuda_runtime.h>

static const int NUM_BINS = 256;

__global__ void histogram_kernel(const uint8_t *samples, int *counts, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(&counts[samples[i]], 1);
    }
}

void histogram(const uint8_t *samples, int *counts, int n)
{
    cudaMemset(counts, 0, NUM_BINS * sizeof(int));

    const int threads = 256;
    const int blocks = (n + threads - 1) / threads;
    histogram_kernel<<<blocks, threads>>>(samples, counts, n);
}
