__global__ void softmax(const float* x, float* y, int rows, int cols) {
    int r = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x & 31;
    if (r >= rows) return;
    const float* in = x + (size_t)r * cols;
    float m = -INFINITY, s = 0.f;
    for (int c = lane; c < cols; c += 32) {
        float v = in[c], top = fmaxf(m, v);
        s = s * (m == top ? 1.f : expf(m - top)) + (v == top ? 1.f : expf(v - top));
        m = top;
    }
    for (int w = 16; w; w /= 2) {
        float m2 = __shfl_xor_sync(0xffffffffu, m, w), s2 = __shfl_xor_sync(0xffffffffu, s, w);
        float top = fmaxf(m, m2);
        s = s * (m == top ? 1.f : expf(m - top)) + s2 * (m2 == top ? 1.f : expf(m2 - top));
        m = top;
    }
    float scale = 1.f / s;
    for (int c = lane; c < cols; c += 32) y[(size_t)r * cols + c] = expf(in[c] - m) * scale;
}
