#include <cuda_fp16.h>

// c[m][n] = a[m][k] * b[n][k]^T, halves in, floats out.
__global__ void gemm_tn(const half* a, const half* b, float* c, int m, int n, int k)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || col >= n) return;

    float sum = 0.0f;
    for (int i = 0; i < k; i++) {
        sum += __half2float(a[row * k + i]) * __half2float(b[col * k + i]);
    }
    c[row * n + col] = sum;
}
