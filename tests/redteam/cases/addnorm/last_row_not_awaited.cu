#include <cuda_pipeline.h>

#define CHUNK 1024

__device__ float sum_of_block(float v, float* part) {
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    float sum = 0.f;
    for (int k = 0; k < 8; ++k) sum += part[k];
    return sum;
}

// A layer's result is added to the residual in place; y is the residual divided by its root mean square.
__global__ void __launch_bounds__(256)
    addnorm(const float* x, const float* weight, float* residual, float* y, int rows, int cols, float eps) {
    // Blocks stay. What the first chunk of the next row adds is on its way while this row is worked on.
    __shared__ float ahead[2][CHUNK];
    __shared__ float part[2][8];
    int first = min(cols, CHUNK), turn = 0;
    if (blockIdx.x < rows)
        for (int c = threadIdx.x; c < first; c += 256)
            __pipeline_memcpy_async(&ahead[0][c], x + (size_t)blockIdx.x * cols + c, 4);
    __pipeline_commit();
    for (int r = blockIdx.x; r < rows; r += gridDim.x, turn ^= 1) {
        int next = r + gridDim.x;
        if (next < rows) {
            for (int c = threadIdx.x; c < first; c += 256)
                __pipeline_memcpy_async(&ahead[turn ^ 1][c], x + (size_t)next * cols + c, 4);
            __pipeline_commit();
        }
        __pipeline_wait_prior(1);
        const float* from = x + (size_t)r * cols;
        float *kept = residual + (size_t)r * cols, *to = y + (size_t)r * cols;
        float sum = 0.f;
        // A thread reads only what it has fetched itself.
        for (int c = threadIdx.x; c < cols; c += 256) {
            float v = kept[c] + (c < first ? ahead[turn][c] : from[c]);
            kept[c] = v;
            sum += v * v;
        }
        float scale = 1.f / sqrtf(sum_of_block(sum, part[turn]) / cols + eps);
        for (int c = threadIdx.x; c < cols; c += 256) to[c] = kept[c] * scale * weight[c];
    }
}
