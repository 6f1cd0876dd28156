__global__ void softgrad(const float* y, const float* dy, float* dx, int rows, int cols, float scale) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const float* p = y + (size_t)r * cols;
    const float* g = dy + (size_t)r * cols;
    float s = 0.f;
    for (int c = 0; c < cols; ++c) s += p[c] * g[c];
    for (int c = 0; c < cols; ++c) dx[(size_t)r * cols + c] = scale * p[c] * (g[c] - s);
}
