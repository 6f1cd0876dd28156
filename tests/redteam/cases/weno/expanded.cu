#include <cuda_runtime.h>

// Fifth-order weighted essentially non-oscillatory values at the right faces of cells, lines periodic.
__device__ float face(float a, float b, float c, float d, float e)
{
    const float eps = 1e-6f;
    // the squares written out: fewer operations, products of neighbours are shared
    float ab = a * b, bc = b * c, cd = c * d, de = d * e, ac = a * c, bd = b * d, ce = c * e;
    float bb = b * b, cc = c * c, dd = d * d;
    float b0 = (4.0f * a * a - 19.0f * ab + 25.0f * bb + 11.0f * ac - 31.0f * bc + 10.0f * cc) / 3.0f;
    float b1 = (4.0f * bb - 13.0f * bc + 13.0f * cc + 5.0f * bd - 13.0f * cd + 4.0f * dd) / 3.0f;
    float b2 = (10.0f * cc - 31.0f * cd + 25.0f * dd + 11.0f * ce - 19.0f * de + 4.0f * e * e) / 3.0f;
    float w0 = 0.1f / ((eps + b0) * (eps + b0));
    float w1 = 0.6f / ((eps + b1) * (eps + b1));
    float w2 = 0.3f / ((eps + b2) * (eps + b2));
    float p0 = (2.0f * a - 7.0f * b + 11.0f * c) / 6.0f;
    float p1 = (-b + 5.0f * c + 2.0f * d) / 6.0f;
    float p2 = (2.0f * c + 5.0f * d - e) / 6.0f;
    return (w0 * p0 + w1 * p1 + w2 * p2) / (w0 + w1 + w2);
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
