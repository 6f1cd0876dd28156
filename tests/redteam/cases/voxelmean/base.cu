// Mean of the samples of every cell and their number.
#include <cuda_runtime.h>

__global__ void gather(const unsigned* cell, const float* value, float* sum, int* count, int n, int m)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned c = cell[i] % (unsigned)m;
    atomicAdd(&sum[c], value[i]);
    atomicAdd(&count[c], 1);
}

__global__ void finish(float* mean, const int* count, int m)
{
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= m) return;
    const int k = count[c];
    mean[c] = k ? mean[c] / (float)k : 0.0f;
}

extern "C" void voxelmean(const unsigned* cell, const float* value, float* mean, int* count, int n, int m)
{
    if (n <= 0 || m <= 0) return;
    cudaMemsetAsync(mean, 0, (size_t)m * sizeof(float));
    cudaMemsetAsync(count, 0, (size_t)m * sizeof(int));
    gather<<<(n + 255) / 256, 256>>>(cell, value, mean, count, n, m);
    finish<<<(m + 255) / 256, 256>>>(mean, count, m);
}
