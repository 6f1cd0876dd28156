__global__ void layernorm(const float* x, const float* gain, float* y, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const float* in = x + (size_t)r * cols;
    float m = 0.f, v = 0.f;
    for (int c = 0; c < cols; ++c) m += in[c];
    m /= cols;
    for (int c = 0; c < cols; ++c) v += (in[c] - m) * (in[c] - m);
    float scale = rsqrtf(v / cols);
    for (int c = 0; c < cols; ++c) y[(size_t)r * cols + c] = (in[c] - m) * scale * gain[c];
}
