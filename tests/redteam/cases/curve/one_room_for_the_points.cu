#include <cuda_runtime.h>
#include <math.h>
#define POINTS 256

// Tones of a picture bent by a curve whose points the host works out.
__global__ void bend(const float* x, const float* curve, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float p = fminf(fmaxf(x[i], 0.f), 1.f) * (POINTS - 1);
    int k = min((int)p, POINTS - 2);
    y[i] = curve[k] + (p - k) * (curve[k + 1] - curve[k]);
}

extern "C" void curve(const float* x, float* y, int n, float gamma, float gain) {
    // Pinned, so that the copy need not be waited for.
    static float *points, *table;
    if (!points) {
        cudaMallocHost(&points, POINTS * sizeof(float));
        cudaMalloc(&table, POINTS * sizeof(float));
    }
    for (int k = 0; k < POINTS; ++k) points[k] = gain * powf(k / (POINTS - 1.f), gamma);
    cudaMemcpyAsync(table, points, POINTS * sizeof(float), cudaMemcpyHostToDevice);
    bend<<<(n + 255) / 256, 256>>>(x, table, y, n);
}
