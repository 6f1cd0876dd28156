#include <cuda_fp16.h>

// Rows of a times rows of b: halves come in, sums are of floats.
__global__ void halfprod(const __half* a, const __half* b, float* c, int m, int n, int k) {
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || col >= n) return;
    float s = 0.f;
    for (int i = 0; i < k; ++i)
        s += __half2float(a[(size_t)row * k + i]) * __half2float(b[(size_t)col * k + i]);
    c[(size_t)row * n + col] = s;
}
