__global__ void cumprod(const float* x, float* y, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float p = 0.f;
    int sign = 0;
    for (int c = 0; c < cols; ++c) {
        float v = x[(size_t)r * cols + c];
        p += log2f(fabsf(v));
        sign ^= v < 0.f;
        y[(size_t)r * cols + c] = sign ? -exp2f(p) : exp2f(p);
    }
}
