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
    float m = most[blockIdx.x];
    const float* from = x + (size_t)blockIdx.x * cols;
    float* to = y + (size_t)blockIdx.x * cols;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) to[c] = m > 0.f ? from[c] / m : 0.f;
}

extern "C" void spread(const float* x, float* y, int rows, int cols) {
    float* most;
    cudaMalloc(&most, rows * sizeof(float));
    largest<<<rows, 256>>>(x, most, rows, cols);
    divide<<<rows, cols < 256 ? (cols + 31) / 32 * 32 : 256>>>(x, most, y, rows, cols);
    cudaFree(most);
}
