// A layer's result is added to the residual in place; y is the residual divided by its root mean square.
__global__ void addnorm(const float* x, const float* weight, float* residual, float* y, int rows, int cols,
                        float eps) {
    __shared__ float part[256];
    int r = blockIdx.x;
    if (r >= rows) return;
    const float* from = x + (size_t)r * cols;
    float *kept = residual + (size_t)r * cols, *to = y + (size_t)r * cols;
    float sum = 0.f;
    for (int c = threadIdx.x; c < cols; c += 256) {
        float v = kept[c] + from[c];
        kept[c] = v;
        sum += v * v;
    }
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int d = 128; d > 0; d /= 2) {
        if (threadIdx.x < d) part[threadIdx.x] += part[threadIdx.x + d];
        __syncthreads();
    }
    float scale = 1.f / sqrtf(part[0] / cols + eps);
    for (int c = threadIdx.x; c < cols; c += 256) to[c] = kept[c] * scale * weight[c];
}
