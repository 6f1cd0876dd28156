#include <cuda_runtime.h>

__global__ void times(const float* a, const float* v, float* to, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0.f;
    for (int k = 0; k < n; ++k) sum += a[(size_t)i * n + k] * v[k];
    to[i] = sum;
}

__global__ void length(const float* v, float* square, int n) {
    __shared__ float part[256];
    float sum = 0.f;
    for (int i = threadIdx.x; i < n; i += 256) sum += v[i] * v[i];
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int w = 128; w; w /= 2) {
        if (threadIdx.x < w) part[threadIdx.x] += part[threadIdx.x + w];
        __syncthreads();
    }
    if (threadIdx.x == 0) *square = part[0];
}

__global__ void divide(const float* from, const float* square, float* to, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[i] / sqrtf(*square + 1e-20f);
}

// The power method: the direction of x after so many steps.
extern "C" void powit(const float* a, const float* x, float* out, int n, int steps) {
    float *v, *square;
    cudaMalloc(&v, n * sizeof(float));
    cudaMalloc(&square, sizeof(float));
    for (int s = 0; s < steps; ++s) {
        times<<<(n + 127) / 128, 128>>>(a, s ? out : x, v, n);
        length<<<1, 256>>>(v, square, n);
        divide<<<(n + 255) / 256, 256>>>(v, square, out, n);
    }
    cudaFree(v);
    cudaFree(square);
}
