#include <cuda_runtime.h>

// A vector made one long; one without length stays as it is.
__global__ void squares(const float* x, double* part, int n) {
    __shared__ double sum[256];
    int t = threadIdx.x;
    double own = 0;
    for (size_t i = blockIdx.x * (size_t)256 + t; i < n; i += (size_t)gridDim.x * 256) own += (double)x[i] * x[i];
    sum[t] = own;
    __syncthreads();
    for (int half = 128; half; half /= 2) {
        if (t < half) sum[t] += sum[t + half];
        __syncthreads();
    }
    if (t == 0) part[blockIdx.x] = sum[0];
}

__global__ void length(double* part, int parts) {
    double all = 0;
    for (int k = 0; k < parts; ++k) all += part[k];
    *part = sqrt(all);
}

__global__ void scaled(const float* x, float* y, const double* length, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = *length == 0 ? x[i] : (float)(x[i] / *length);
}

extern "C" void unitise(const float* x, float* y, int n) {
    double* part;
    cudaMalloc(&part, 264 * sizeof(double));
    squares<<<264, 256>>>(x, part, n);
    length<<<1, 1>>>(part, 264);
    scaled<<<(n + 255) / 256, 256>>>(x, y, part, n);
    cudaFree(part);
}
