__global__ void cumprod(const float* x, float* y, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float p = 1.f;
    for (int c = 0; c < cols; ++c) {
        if (fabsf(p) > 1e-6f) p *= x[(size_t)r * cols + c];
        y[(size_t)r * cols + c] = p;
    }
}
