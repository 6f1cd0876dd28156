__global__ void quantize(const float* x, signed char* q, float* scale, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const float* row = x + (size_t)r * cols;
    float m = 0.f;
    for (int c = 0; c < cols; ++c) m = fmaxf(m, fabsf(row[c]));
    float s = m > 0.f ? m / 127.f : 1.f;
    scale[r] = s;
    for (int c = 0; c < cols; ++c) {
        float v = fminf(fmaxf(roundf(row[c] / s), -128.f), 127.f);
        q[(size_t)r * cols + c] = (signed char)(int)v;
    }
}
