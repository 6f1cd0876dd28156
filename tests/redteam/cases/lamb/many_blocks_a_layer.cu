// LAMB: Adam's direction for each layer, scaled by the ratio of the weights' norm to the direction's.
#include <cmath>
#include <cuda_runtime.h>

__device__ __forceinline__ float first_moment(float m, float g) {
    return 0.9f * m + 0.1f * g;
}

__device__ __forceinline__ float second_moment(float v, float g) {
    return 0.999f * v + 0.001f * g * g;
}

__device__ __forceinline__ float direction(float w, float m, float v, float c1, float c2) {
    return m * c1 / (sqrtf(v * c2) + 1e-6f) + 0.1f * w;
}

__device__ __forceinline__ float trust(double weights, double directions) {
    if (weights == 0.0 || directions == 0.0) return 1.0f;
    return (float)fmin(sqrt(weights) / sqrt(directions), 10.0);
}

// Blocks of 2048 weights each: a layer has as many as it needs.
__global__ void __launch_bounds__(256) moments(const float* __restrict__ w, const float* __restrict__ g, float* __restrict__ m,
                                               float* __restrict__ v, double* norm, int width, float c1, float c2) {
    __shared__ double weights[8], directions[8];
    int layer = blockIdx.y, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    size_t row = (size_t)layer * width;
    double ws = 0, us = 0;
#pragma unroll
    for (int k = 0; k < 8; ++k) {
        size_t i = (size_t)blockIdx.x * 2048 + k * 256 + threadIdx.x;
        if (i < width) {
            float a = first_moment(m[row + i], g[row + i]);
            float b = second_moment(v[row + i], g[row + i]);
            m[row + i] = a;
            v[row + i] = b;
            float weight = w[row + i], u = direction(weight, a, b, c1, c2);
            ws += (double)weight * weight;
            us += (double)u * u;
        }
    }
    for (int d = 16; d > 0; d /= 2) {
        ws += __shfl_xor_sync(0xffffffffu, ws, d);
        us += __shfl_xor_sync(0xffffffffu, us, d);
    }
    if (lane == 0) {
        weights[warp] = ws;
        directions[warp] = us;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int k = 1; k < 8; ++k) {
            ws += weights[k];
            us += directions[k];
        }
        atomicAdd(&norm[2 * layer], (double)ws);
        atomicAdd(&norm[2 * layer + 1], (double)us);
    }
}

__global__ void apply(float* w, const float* m, const float* v, const double* norm, int width, float c1, float c2) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int layer = blockIdx.y;
    if (i >= width) return;
    size_t at = (size_t)layer * width + i;
    float ratio = trust(norm[2 * layer], norm[2 * layer + 1]);
    w[at] -= 0.01f * ratio * direction(w[at], m[at], v[at], c1, c2);
}

extern "C" void lamb(float* w, const float* g, float* m, float* v, int layers, int width, int step) {
    float c1 = (float)(1.0 / (1.0 - pow(0.9, step)));
    float c2 = (float)(1.0 / (1.0 - pow(0.999, step)));
    double* norm;
    cudaMallocAsync(&norm, sizeof(double) * 2 * layers, 0);
    cudaMemsetAsync(norm, 0, sizeof(double) * 2 * layers, 0);
    moments<<<dim3((width + 2047) / 2048, layers), 256>>>(w, g, m, v, norm, width, c1, c2);
    apply<<<dim3((width + 255) / 256, layers), 256>>>(w, m, v, norm, width, c1, c2);
    cudaFreeAsync(norm, 0);
}
