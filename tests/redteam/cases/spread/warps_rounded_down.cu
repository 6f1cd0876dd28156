#include <cuda_runtime.h>

// Rows by their largest magnitude; rows of zeros stay.
__global__ void largest(const float* x, float* most, int rows, int cols) {
    int r = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (r >= rows) return;
    float m = 0.f;
    for (int c = lane; c < cols; c += 32) m = fmaxf(m, fabsf(x[(size_t)r * cols + c]));
    for (int d = 16; d > 0; d >>= 1) m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, d));
    if (lane == 0) most[r] = m;
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
    largest<<<rows > 8 ? rows / 8 : 1, 256>>>(x, most, rows, cols);
    divide<<<(unsigned)(((long long)rows * cols + 255) / 256), 256>>>(x, most, y, rows, cols);
    cudaFree(most);
}
