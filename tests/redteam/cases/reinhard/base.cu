#include <cuda_runtime.h>

// How bright a pixel is.
__device__ float bright(const float* rgb, size_t i) {
    return fmaxf(0.2126f * rgb[3 * i] + 0.7152f * rgb[3 * i + 1] + 0.0722f * rgb[3 * i + 2], 0.f);
}

// The mean of the logarithms of how bright pixels are.
__global__ void logs(const float* rgb, double* mean, int n) {
    __shared__ double part[8];
    double s = 0.;
    for (size_t i = blockIdx.x * (size_t)256 + threadIdx.x; i < n; i += gridDim.x * (size_t)256)
        s += logf(0.0001f + bright(rgb, i));
    for (int k = 16; k; k /= 2) s += __shfl_down_sync(0xffffffffu, s, k);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
    __syncthreads();
    if (threadIdx.x) return;
    for (int w = 1; w < 8; ++w) s += part[w];
    atomicAdd(mean, s / n);
}

// Each pixel by what is bright in the picture.
__global__ void mapped(const float* rgb, const double* mean, float* out, int n, float key) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= n) return;
    float scale = key / expf((float)*mean), by = scale / (1.f + scale * bright(rgb, i));
    for (int c = 0; c < 3; ++c) out[3 * i + c] = by * rgb[3 * i + c];
}

// Reinhard's tone mapping: a picture of any brightness as one between nought and one.
extern "C" void reinhard(const float* rgb, float* out, double* mean, int n, float key) {
    cudaMemsetAsync(mean, 0, sizeof(double), 0);
    logs<<<min((n + 255) / 256, 2112), 256>>>(rgb, mean, n);
    mapped<<<(n + 255) / 256, 256>>>(rgb, mean, out, n, key);
}
