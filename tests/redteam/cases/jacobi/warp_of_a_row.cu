#include <cuda_runtime.h>

__global__ void sweep(const float* a, const float* b, const float* x, float* to, int n) {
    int i = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (i >= n) return;
    float sum = 0.f, size = 0.f;
    for (int j = lane; j < n; j += 32)
        if (j != i) {
            float v = a[(size_t)i * n + j];
            sum += v * x[j];
            size += fabsf(v);
        }
    for (int s = 16; s; s /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, s);
        size += __shfl_xor_sync(0xffffffffu, size, s);
    }
    if (lane == 0) to[i] = (b[i] - sum) / (1.f + size);
}

// Sweeps of Jacobi's method, from zero on, over the rows of a matrix whose diagonal is one more than all else
// of the row together.
extern "C" void jacobi(const float* a, const float* b, float* x, int n, int sweeps) {
    float* other;
    cudaMalloc(&other, n * sizeof(float));
    float* from = sweeps % 2 ? other : x;
    cudaMemset(from, 0, n * sizeof(float));
    for (int s = 0; s < sweeps; ++s) {
        float* to = from == x ? other : x;
        sweep<<<(n + 7) / 8, 256>>>(a, b, from, to, n);
        from = to;
    }
    cudaFree(other);
}
