// Single-precision matrix product C = A * B, all row-major:
// A is m x k, B is k x n, C is m x n.
#include <cuda_runtime.h>
#include <stdio.h>

#define TILE_X 16
#define TILE_Y 16

__global__ void matmul_kernel(const float *A, const float *B, float *C, int m, int n, int k)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;

    if (row < m && col < n) {
        float acc = 0.0f;
        for (int p = 0; p < k; ++p) {
            acc += A[row * k + p] * B[p * n + col];
        }
        C[row * n + col] = acc;
    }
}

extern "C" void matmul(const float *A, const float *B, float *C, int m, int n, int k)
{
    dim3 block(TILE_X, TILE_Y);
    dim3 grid((n + TILE_X - 1) / TILE_X, (m + TILE_Y - 1) / TILE_Y);
    matmul_kernel<<<grid, block>>>(A, B, C, m, n, k);

    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        fprintf(stderr, "matmul launch failed: %s\n", cudaGetErrorString(err));
    }
}
