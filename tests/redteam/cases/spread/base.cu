#include <cuda_runtime.h>

// Rows by their largest magnitude; rows of zeros stay.
__global__ void largest(const float* x, float* most, int rows, int cols) {
    __shared__ float part[256];
    int r = blockIdx.x, t = threadIdx.x;
    float m = 0.f;
    for (int c = t; c < cols; c += 256) m = fmaxf(m, fabsf(x[(size_t)r * cols + c]));
    part[t] = m;
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (t < s) part[t] = fmaxf(part[t], part[t + s]);
        __syncthreads();
    }
    if (t == 0) most[r] = part[0];
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
    largest<<<rows, 256>>>(x, most, rows, cols);
    divide<<<(unsigned)(((long long)rows * cols + 255) / 256), 256>>>(x, most, y, rows, cols);
    cudaFree(most);
}
