#include <cooperative_groups.h>
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

__global__ void iterate(const float* A, const float* b, float* x, float* r, const float* step, float lambda, int m, int n,
                        int rounds)
{
    __shared__ float part[128];
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    for (int k = 0; k < rounds; k++) {
        for (int i = blockIdx.x; i < m; i += gridDim.x) {
            const float* row = A + (size_t)i * n;
            float sum = 0;
            for (int j = threadIdx.x; j < n; j += 128) sum += row[j] * x[j];
            sum = blockSum(sum, part);
            if (threadIdx.x == 0) r[i] = sum - b[i];
        }
        grid.sync();
        for (int j = blockIdx.x * 128 + threadIdx.x; j < n; j += gridDim.x * 128) {
            float slope = 0;
            for (int i = 0; i < m; i++) slope += A[(size_t)i * n + j] * r[i];
            float moved = x[j] - *step * slope;
            x[j] = copysignf(fmaxf(fabsf(moved) - *step * lambda, 0.0f), moved);
        }
        grid.sync();
    }
}

void lasso(const float* A, const float* b, float* x, float lambda, int m, int n, int rounds)
{
    float *parts, *step, *r;
    cudaMallocAsync((void**)&parts, 256 * sizeof(float), 0);
    cudaMallocAsync((void**)&step, sizeof(float), 0);
    cudaMallocAsync((void**)&r, m * sizeof(float), 0);
    squares<<<256, 256>>>(A, parts, (size_t)m * n);
    stepLength<<<1, 256>>>(parts, step, 256);
    cudaMemsetAsync(x, 0, n * sizeof(float), 0);
    int device = 0, processors = 1, each = 1;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, iterate, 128, 0);
    void* arguments[] = {&A, &b, &x, &r, &step, &lambda, &m, &n, &rounds};
    cudaLaunchCooperativeKernel((void*)iterate, dim3(processors * each), dim3(128), arguments, 0, 0);
    cudaFreeAsync(r, 0);
    cudaFreeAsync(step, 0);
    cudaFreeAsync(parts, 0);
}
