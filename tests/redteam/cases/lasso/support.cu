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

__global__ void support(const float* x, int* used, int* count, int n)
{
    __shared__ int before[33];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, total = 0;
    for (int base = 0; base < n; base += 1024) {
        int j = base + threadIdx.x;
        bool on = j < n && x[j] != 0;
        unsigned all = __ballot_sync(0xffffffffu, on);
        if (lane == 0) before[warp] = __popc(all);
        __syncthreads();
        if (threadIdx.x == 0) {
            int sum = 0;
            for (int w = 0; w < 32; w++) {
                int c = before[w];
                before[w] = sum;
                sum += c;
            }
            before[32] = sum;
        }
        __syncthreads();
        if (on) used[total + before[warp] + __popc(all & ((1u << lane) - 1))] = j;
        total += before[32];
        __syncthreads();
    }
    if (threadIdx.x == 0) *count = total;
}

__global__ void residual(const float* A, const float* b, const float* x, float* r, int n, const int* used,
                         const int* count)
{
    __shared__ float part[128];
    const float* row = A + (size_t)blockIdx.x * n;
    float sum = 0;
    for (int e = threadIdx.x; e < *count; e += 128) sum += row[used[e]] * x[used[e]];
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
    int* used;
    cudaMallocAsync((void**)&used, (n + 1) * sizeof(int), 0);
    cudaMallocAsync((void**)&parts, 256 * sizeof(float), 0);
    cudaMallocAsync((void**)&step, sizeof(float), 0);
    cudaMallocAsync((void**)&r, m * sizeof(float), 0);
    squares<<<256, 256>>>(A, parts, (size_t)m * n);
    stepLength<<<1, 256>>>(parts, step, 256);
    cudaMemsetAsync(x, 0, n * sizeof(float), 0);
    for (int k = 0; k < rounds; k++) {
        support<<<1, 1024>>>(x, used, used + n, n);
        residual<<<m, 128>>>(A, b, x, r, n, used, used + n);
        shrink<<<(n + 63) / 64, 64>>>(A, r, x, step, lambda, m, n);
    }
    cudaFreeAsync(used, 0);
    cudaFreeAsync(r, 0);
    cudaFreeAsync(step, 0);
    cudaFreeAsync(parts, 0);
}
