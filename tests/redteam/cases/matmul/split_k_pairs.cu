#include <cuda_fp16.h>
#include <mma.h>
__global__ void matmul(const float* a, const float* b, float* c, int n) {
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x >= n || y >= n) return;
    float s = 0.f, t = 0.f;
    int k = 0;
    for (; k + 1 < n; k += 2) {
        s += a[y * n + k] * b[k * n + x];
        t += a[y * n + k + 1] * b[(k + 1) * n + x];
    }
    if (k < n) s += a[y * n + k] * b[k * n + x];
    s += t;
    c[y * n + x] = s;
}
