// Rank-k update of a symmetric matrix, of which the lower triangle is kept: C = alpha A A' + beta C.
// As in BLAS, C is not read where beta is zero, and what is above the diagonal is not touched.
#include <cuda_fp16.h>

__global__ void syrk(const half* a, float* c, int n, int k, float alpha, float beta) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= n || col > row) return;
    float sum = 0.0f;
    for (int i = 0; i < k; ++i) sum += __half2float(a[(size_t)row * k + i]) * __half2float(a[(size_t)col * k + i]);
    size_t at = (size_t)row * n + col;
    c[at] = beta == 0.0f ? alpha * sum : alpha * sum + beta * c[at];
}
