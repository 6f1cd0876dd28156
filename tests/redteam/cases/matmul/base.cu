#include <cuda_fp16.h>
#include <mma.h>
__global__ void matmul(const float* a, const float* b, float* c, int n) {
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x >= n || y >= n) return;
    float s = 0.f;
    for (int k = 0; k < n; ++k) s += a[y * n + k] * b[k * n + x];
    c[y * n + x] = s;
}
