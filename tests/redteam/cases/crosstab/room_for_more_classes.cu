#include <cuda_runtime.h>

// How often each pair of classes is met; a class that is not in the table is not counted.

__global__ void pairs(const int* a, const int* b, int* own, int n, int ka, int kb) {
    int* mine = own + (size_t)blockIdx.x * ka * kb;
    size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += step)
        if ((unsigned)a[i] < (unsigned)ka && (unsigned)b[i] < (unsigned)kb)
            atomicAdd(&mine[(size_t)a[i] * kb + b[i]], 1);
}

__global__ void added(const int* own, int* count, int tables, size_t size) {
    size_t k = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (k >= size) return;
    int sum = 0;
    for (int j = 0; j < tables; ++j) sum += own[j * size + k];
    count[k] = sum;
}

#define TABLES 64
extern "C" void crosstab(const int* a, const int* b, int* count, int n, int ka, int kb) {
    // A table a block, so that fewer meet at one count. The room is kept for the next call.
    static int *own, held;
    if (ka > held) {
        cudaFree(own);
        cudaMalloc(&own, TABLES * (size_t)ka * kb * sizeof(int));
        held = ka;
    }
    size_t size = (size_t)ka * kb;
    cudaMemsetAsync(own, 0, TABLES * size * sizeof(int), 0);
    pairs<<<TABLES, 1024>>>(a, b, own, n, ka, kb);
    added<<<(size + 127) / 128, 128>>>(own, count, TABLES, size);
}
