#include <cuda_runtime.h>

// How often each pair of classes is met; a class that is not in the table is not counted.
__global__ void pairs(const int* a, const int* b, int* count, int n, int ka, int kb) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && (unsigned)a[i] < (unsigned)ka && (unsigned)b[i] < (unsigned)kb)
        atomicAdd(&count[(size_t)a[i] * kb + b[i]], 1);
}

extern "C" void crosstab(const int* a, const int* b, int* count, int n, int ka, int kb) {
    cudaMemsetAsync(count, 0, (size_t)ka * kb * sizeof(int), 0);
    pairs<<<(n + 255) / 256, 256>>>(a, b, count, n, ka, kb);
}
