#include <cuda_runtime.h>

// Fifth-order weighted essentially non-oscillatory values at the right faces of cells, lines periodic.
__device__ float face(float a, float b, float c, float d, float e)
{
    const float eps = 1e-6f;
    float d0 = b - a, d1 = c - b, d2 = d - c, d3 = e - d;
    float u0 = d1 - d0, v0 = 3.0f * d1 - d0;
    float u1 = d2 - d1, v1 = d1 + d2;
    float u2 = d3 - d2, v2 = d3 - 3.0f * d2;
    float b0 = 13.0f / 12.0f * u0 * u0 + 0.25f * v0 * v0;
    float b1 = 13.0f / 12.0f * u1 * u1 + 0.25f * v1 * v1;
    float b2 = 13.0f / 12.0f * u2 * u2 + 0.25f * v2 * v2;
    float w0 = 0.1f / ((eps + b0) * (eps + b0));
    float w1 = 0.6f / ((eps + b1) * (eps + b1));
    float w2 = 0.3f / ((eps + b2) * (eps + b2));
    float p0 = 5.0f * d1 - 2.0f * d0;
    float p1 = d1 + 2.0f * d2;
    float p2 = 4.0f * d2 - d3;
    return c + (w0 * p0 + w1 * p1 + w2 * p2) / (6.0f * (w0 + w1 + w2));
}

__global__ void weno(const float* q, float* edge, int lines, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int line = blockIdx.y;
    if (i >= n || line >= lines) return;
    const float* x = q + (size_t)line * n;
    float a = x[((i - 2) % n + n) % n];
    float b = x[((i - 1) % n + n) % n];
    float c = x[i];
    float d = x[(i + 1) % n];
    float e = x[(i + 2) % n];
    edge[(size_t)line * n + i] = face(a, b, c, d, e);
}
