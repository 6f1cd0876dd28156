// Mean of the samples of every cell and their number.
#include <cuda_runtime.h>

__global__ void sums(const unsigned* cell, const float* value, float* sum, int n, int m)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&sum[cell[i] % (unsigned)m], value[i]);
}

__global__ void counts(const unsigned* cell, int* count, int n, int m)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&count[cell[i] % (unsigned)m], 1);
}

__global__ void finish(float* mean, const int* count, int m)
{
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= m) return;
    const int k = count[c];
    mean[c] = k ? mean[c] / (float)k : 0.0f;
}

static cudaStream_t side = nullptr;
static cudaEvent_t joined = nullptr;

extern "C" void voxelmean(const unsigned* cell, const float* value, float* mean, int* count, int n, int m)
{
    if (n <= 0 || m <= 0) return;
    if (!side) {
        cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
        cudaEventCreateWithFlags(&joined, cudaEventDisableTiming);
    }
    // counting runs beside the sums
    cudaMemsetAsync(count, 0, (size_t)m * sizeof(int), side);
    counts<<<(n + 255) / 256, 256, 0, side>>>(cell, count, n, m);
    cudaEventRecord(joined, side);
    cudaMemsetAsync(mean, 0, (size_t)m * sizeof(float));
    sums<<<(n + 255) / 256, 256>>>(cell, value, mean, n, m);
    cudaStreamWaitEvent(0, joined, 0);
    finish<<<(m + 255) / 256, 256>>>(mean, count, m);
}
