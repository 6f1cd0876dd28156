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
    for (size_t i = blockIdx.x * (size_t)256 + threadIdx.x; i < count; i += (size_t)gridDim.x * 256) sum += A[i] * A[i];
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

__global__ void transpose(const float* A, float* T, int m, int n)
{
    for (size_t e = blockIdx.x * (size_t)256 + threadIdx.x; e < (size_t)m * n; e += (size_t)gridDim.x * 256)
        T[e % n * m + e / n] = A[e];
}

__global__ void shrink(const float* T, const float* r, float* x, const float* step, float lambda, int m, int n)
{
    int j = blockIdx.x * 4 + (threadIdx.x >> 5), lane = threadIdx.x & 31;
    if (j >= n) return;
    float slope = 0;
    for (int i = lane; i < m; i += 32) slope += T[(size_t)j * m + i] * r[i];
    for (int d = 16; d > 0; d >>= 1) slope += __shfl_xor_sync(0xffffffffu, slope, d);
    float moved = x[j] - *step * slope;
    __syncwarp();
    if (lane == 0) x[j] = copysignf(fmaxf(fabsf(moved) - *step * lambda, 0.0f), moved);
}

void lasso(const float* A, const float* b, float* x, float lambda, int m, int n, int rounds)
{
    float *parts, *step, *r, *T;
    cudaMallocAsync((void**)&T, (size_t)m * n * sizeof(float), 0);
    transpose<<<1024, 256>>>(A, T, m, n);
    cudaMallocAsync((void**)&parts, 256 * sizeof(float), 0);
    cudaMallocAsync((void**)&step, sizeof(float), 0);
    cudaMallocAsync((void**)&r, m * sizeof(float), 0);
    squares<<<256, 256>>>(A, parts, (size_t)m * n);
    stepLength<<<1, 256>>>(parts, step, 256);
    cudaMemsetAsync(x, 0, n * sizeof(float), 0);
    for (int k = 0; k < rounds; k++) {
        residual<<<m, 128>>>(A, b, x, r, n);
        shrink<<<(n + 3) / 4, 128>>>(T, r, x, step, lambda, m, n);
    }
    cudaFreeAsync(T, 0);
    cudaFreeAsync(r, 0);
    cudaFreeAsync(step, 0);
    cudaFreeAsync(parts, 0);
}
