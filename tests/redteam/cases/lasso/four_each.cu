#include <cuda_runtime.h>

// Sparse regression, min |Ax - b|^2 / 2 + lambda |x|_1, by proximal gradient steps (ISTA) from zero. The step is one over
// the squared Frobenius norm of A, which is never too long.
__device__ float blockSum(float v, float* part)
{
    part[threadIdx.x] = v;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half >>= 1) {
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    float sum = part[0];
    __syncthreads();
    return sum;
}

__global__ void squares(const float* A, float* parts, size_t count)
{
    __shared__ float part[256];
    float sum = 0;
    size_t from = blockIdx.x * (size_t)1024 + threadIdx.x;
    for (int e = 0; e < 4; e++)
        if (from + e * 256 < count) sum += A[from + e * 256] * A[from + e * 256];
    sum = blockSum(sum, part);
    if (threadIdx.x == 0) parts[blockIdx.x] = sum;
}

__global__ void stepLength(const float* parts, float* step, int count)
{
    __shared__ float part[256];
    float sum = 0;
    for (int i = threadIdx.x; i < count; i += 256) sum += parts[i];
    sum = blockSum(sum, part);
    if (threadIdx.x == 0) *step = sum > 0 ? 1 / sum : 0;
}

__global__ void residual(const float* A, const float* b, const float* x, float* r, int n)
{
    __shared__ float part[128];
    const float* row = A + (size_t)blockIdx.x * n;
    float sum = 0;
    for (int j = threadIdx.x; j < n; j += 128) sum += row[j] * x[j];
    sum = blockSum(sum, part);
    if (threadIdx.x == 0) r[blockIdx.x] = sum - b[blockIdx.x];
}

__global__ void shrink(const float* A, const float* r, float* x, const float* step, float lambda, int m, int n)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= n) return;
    float slope = 0;
    for (int i = 0; i < m; i++) slope += A[(size_t)i * n + j] * r[i];
    float moved = x[j] - *step * slope;
    x[j] = copysignf(fmaxf(fabsf(moved) - *step * lambda, 0.0f), moved);
}

void lasso(const float* A, const float* b, float* x, float lambda, int m, int n, int rounds)
{
    float *parts, *step, *r;
    cudaMallocAsync((void**)&parts, 1024 * sizeof(float), 0);
    cudaMallocAsync((void**)&step, sizeof(float), 0);
    cudaMallocAsync((void**)&r, m * sizeof(float), 0);
    squares<<<1024, 256>>>(A, parts, (size_t)m * n);
    stepLength<<<1, 256>>>(parts, step, 1024);
    cudaMemsetAsync(x, 0, n * sizeof(float), 0);
    for (int k = 0; k < rounds; k++) {
        residual<<<m, 128>>>(A, b, x, r, n);
        shrink<<<(n + 63) / 64, 64>>>(A, r, x, step, lambda, m, n);
    }
    cudaFreeAsync(r, 0);
    cudaFreeAsync(step, 0);
    cudaFreeAsync(parts, 0);
}
