#include <cuda_fp16.h>
#include <mma.h>
__global__ void matmul(const float* a, const float* b, float* c, int n) {
    __shared__ float p[16][16], q[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 16 + tx, y = blockIdx.y * 16 + ty;
    float s = 0.f;
    for (int t = 0; t < n; t += 16) {
        p[ty][tx] = y < n && t + tx < n ? a[y * n + t + tx] : 0.f;
        q[ty][tx] = x < n && t + ty < n ? b[(t + ty) * n + x] : 0.f;
        __syncthreads();
        for (int k = 0; k < 16; ++k) s += p[ty][k] * q[k][tx];
    }
    if (x < n && y < n) c[y * n + x] = s;
}
