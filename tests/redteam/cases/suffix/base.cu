#include <climits>
#include <cuda_runtime.h>

// For each number the largest from there to the end.
__global__ void tops(const int* x, int* top, int n) {
    __shared__ int most;
    if (threadIdx.x == 0) most = INT_MIN;
    __syncthreads();
    for (int k = 0; k < 4; ++k) {
        size_t i = blockIdx.x * (size_t)1024 + k * 256 + threadIdx.x;
        if (i < n) atomicMax(&most, x[i]);
    }
    __syncthreads();
    if (threadIdx.x == 0) top[blockIdx.x] = most;
}

__global__ void behind(int* top, int blocks) {
    int most = INT_MIN;
    for (int b = blocks - 1; b >= 0; --b) {
        int own = top[b];
        top[b] = most;
        most = max(most, own);
    }
}

__global__ void written(const int* x, const int* top, int* y, int n) {
    __shared__ int value[1024];
    int t = threadIdx.x;
    size_t start = blockIdx.x * (size_t)1024;
    for (int k = t; k < 1024; k += 256) value[k] = start + k < n ? x[start + k] : INT_MIN;
    __syncthreads();
    if (t == 0) {
        int most = top[blockIdx.x];
        for (int k = 1023; k >= 0; --k) value[k] = most = max(most, value[k]);
    }
    __syncthreads();
    for (int k = t; k < 1024; k += 256)
        if (start + k < n) y[start + k] = value[k];
}

extern "C" void suffix(const int* x, int* y, int n) {
    int blocks = (int)(((long long)n + 1023) / 1024);
    int* top;
    cudaMalloc(&top, blocks * sizeof(int));
    tops<<<blocks, 256>>>(x, top, n);
    behind<<<1, 1>>>(top, blocks);
    written<<<blocks, 256>>>(x, top, y, n);
    cudaFree(top);
}
