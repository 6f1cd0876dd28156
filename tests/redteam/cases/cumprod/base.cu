__global__ void cumprod(const float* x, float* y, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float p = 1.f;
    for (int c = 0; c < cols; ++c) {
        p *= x[(size_t)r * cols + c];
        y[(size_t)r * cols + c] = p;
    }
}
