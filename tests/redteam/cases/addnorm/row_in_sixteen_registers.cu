#define EACH 16

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
    __shared__ float part[8];
    int r = blockIdx.x;
    if (r >= rows) return;
    const float* from = x + (size_t)r * cols;
    float *kept = residual + (size_t)r * cols, *to = y + (size_t)r * cols;
    // The row stays in registers between the two passes.
    float mine[EACH], sum = 0.f;
#pragma unroll
    for (int e = 0; e < EACH; ++e) {
        int c = e * 256 + threadIdx.x;
        mine[e] = 0.f;
        if (c < cols) {
            mine[e] = kept[c] + from[c];
            kept[c] = mine[e];
        }
        sum += mine[e] * mine[e];
    }
    float scale = rsqrtf(sum_of_block(sum, part) / cols + eps);
#pragma unroll
    for (int e = 0; e < EACH; ++e) {
        int c = e * 256 + threadIdx.x;
        if (c < cols) to[c] = mine[e] * scale * weight[c];
    }
}
