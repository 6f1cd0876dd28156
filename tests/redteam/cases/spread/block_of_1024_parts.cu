#include <cuda_runtime.h>

// Rows by their largest magnitude; rows of zeros stay.
__global__ void largest(const float* x, float* most, int rows, int cols) {
    __shared__ float part[8];
    int r = blockIdx.x, t = threadIdx.x;
    float m = 0.f;
    for (int c = t; c < cols; c += 1024) m = fmaxf(m, fabsf(x[(size_t)r * cols + c]));
    for (int d = 16; d > 0; d >>= 1) m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, d));
    if (t % 32 == 0 && t / 32 < 8) part[t / 32] = m;
    __syncthreads();
    if (t) return;
    for (int k = 0; k < 8; ++k) m = fmaxf(m, part[k]);
    most[r] = m;
}

__global__ void divide(const float* x, const float* most, float* y, int rows, int cols) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= (long long)rows * cols) return;
    float m = most[i / cols];
    y[i] = m > 0.f ? x[i] / m : 0.f;
}

extern "C" void spread(const float* x, float* y, int rows, int cols) {
    float* most;
    cudaMalloc(&most, rows * sizeof(float));
    largest<<<rows, 1024>>>(x, most, rows, cols);
    divide<<<(unsigned)(((long long)rows * cols + 255) / 256), 256>>>(x, most, y, rows, cols);
    cudaFree(most);
}
