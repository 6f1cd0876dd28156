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

// One launch: a block of 1024 threads goes over its layer twice, the second time mostly from the cache.
__global__ void __launch_bounds__(1024) layer(float* w, const float* __restrict__ g, float* m, float* v, int width, float c1, float c2) {
    __shared__ double weights[32], directions[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    size_t row = (size_t)blockIdx.x * width;
    double ws = 0.0, us = 0.0;
    for (int i = threadIdx.x; i < width; i += 1024) {
        float a = first_moment(m[row + i], g[row + i]);
        float b = second_moment(v[row + i], g[row + i]);
        m[row + i] = a;
        v[row + i] = b;
        float weight = w[row + i], u = direction(weight, a, b, c1, c2);
        ws += (double)weight * weight;
        us += (double)u * u;
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
    ws = weights[lane];
    us = directions[lane];
    for (int d = 16; d > 0; d /= 2) {
        ws += __shfl_xor_sync(0xffffffffu, ws, d);
        us += __shfl_xor_sync(0xffffffffu, us, d);
    }
    float ratio = trust(ws, us);
    for (int i = threadIdx.x; i < width; i += 1024)
        w[row + i] -= 0.01f * ratio * direction(w[row + i], m[row + i], v[row + i], c1, c2);
}

extern "C" void lamb(float* w, const float* g, float* m, float* v, int layers, int width, int step) {
    float c1 = (float)(1.0 / (1.0 - pow(0.9, step)));
    float c2 = (float)(1.0 / (1.0 - pow(0.999, step)));
    layer<<<layers, 1024>>>(w, g, m, v, width, c1, c2);
}
