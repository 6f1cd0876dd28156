#include <cuda_runtime.h>

// How often each pair of classes is met; a class that is not in the table is not counted.
__global__ void pairs(const int* a, const int* b, int* count, int n, int ka, int kb) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && (unsigned)a[i] < (unsigned)ka && (unsigned)b[i] < (unsigned)kb)
        atomicAdd(&count[(size_t)a[i] * kb + b[i]], 1);
}

__global__ void pairs_of_a_block(const int* a, const int* b, int* count, int n, int ka, int kb) {
    extern __shared__ int mine[];
    for (int k = threadIdx.x; k < ka * kb; k += blockDim.x) mine[k] = 0;
    __syncthreads();
    size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += step)
        if ((unsigned)a[i] < (unsigned)ka && (unsigned)b[i] < (unsigned)kb)
            atomicAdd(&mine[a[i] * kb + b[i]], 1);
    __syncthreads();
    for (int k = threadIdx.x; k < ka * kb; k += blockDim.x)
        if (mine[k]) atomicAdd(&count[k], mine[k]);
}

extern "C" void crosstab(const int* a, const int* b, int* count, int n, int ka, int kb) {
    size_t bytes = (size_t)ka * kb * sizeof(int);
    cudaMemsetAsync(count, 0, bytes, 0);
    // More than 48 KB are to be asked for, and a device may not have them.
    bool fits = bytes <= 48 * 1024;
    if (!fits && bytes <= 96 * 1024)
        fits = cudaFuncSetAttribute(pairs_of_a_block, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    (int)bytes) == cudaSuccess;
    if (fits)
        pairs_of_a_block<<<132, 1024, bytes>>>(a, b, count, n, ka, kb);
    else
        pairs<<<(n + 255) / 256, 256>>>(a, b, count, n, ka, kb);
}
