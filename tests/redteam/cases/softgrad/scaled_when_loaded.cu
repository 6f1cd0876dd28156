__global__ void softgrad(const float* y, const float* dy, float* dx, int rows, int cols, float scale) {
    int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (r >= rows) return;
    const float* p = y + (size_t)r * cols;
    const float* g = dy + (size_t)r * cols;
    float s = 0.f;
    for (int c = lane; c < cols; c += 32) {
        float scaled = scale * p[c];
        s = fmaf(scaled, g[c], s);
    }
    for (int d = 16; d; d >>= 1) s += __shfl_xor_sync(0xffffffffu, s, d);
    for (int c = lane; c < cols; c += 32) {
        float scaled = scale * p[c];
        dx[(size_t)r * cols + c] = scaled * (g[c] - s);
    }
}
