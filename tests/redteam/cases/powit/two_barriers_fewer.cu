#include <cuda_runtime.h>

// A warp a row.
__global__ void times(const float* a, const float* v, float* to, int n) {
    int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (i >= n) return;
    const float* row = a + (size_t)i * n;
    float sum = 0.f;
    for (int k = lane; k < n; k += 32) sum += row[k] * v[k];
    for (int s = 16; s; s /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, s);
    if (lane == 0) to[i] = sum;
}

__global__ void length(const float* v, float* square, int n) {
    __shared__ float part[256];
    float sum = 0.f;
    for (int i = threadIdx.x; i < n; i += 256) sum += v[i] * v[i];
    part[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x < 128) part[threadIdx.x] += part[threadIdx.x + 128];
    // From here on four warps are left, and then two.
    if (threadIdx.x < 64) part[threadIdx.x] += part[threadIdx.x + 64];
    __syncthreads();
    if (threadIdx.x >= 32) return;
    sum = part[threadIdx.x] + part[threadIdx.x + 32];
    for (int s = 16; s; s /= 2) sum += __shfl_down_sync(0xffffffffu, sum, s);
    if (threadIdx.x == 0) *square = sum;
}

__global__ void divide(const float* from, const float* square, float* to, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[i] / sqrtf(*square + 1e-20f);
}

// The power method: the direction of x after so many steps.
extern "C" void powit(const float* a, const float* x, float* out, int n, int steps) {
    float *v, *square;
    cudaMalloc(&v, n * sizeof(float));
    cudaMalloc(&square, sizeof(float));
    for (int s = 0; s < steps; ++s) {
        times<<<(n + 7) / 8, 256>>>(a, s ? out : x, v, n);
        length<<<1, 256>>>(v, square, n);
        divide<<<(n + 255) / 256, 256>>>(v, square, out, n);
    }
    cudaFree(v);
    cudaFree(square);
}
