__global__ void softmax(const float* x, float* y, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const float* in = x + (size_t)r * cols;
    float m = in[0], s = 0.f;
    for (int c = 1; c < cols; ++c) m = fmaxf(m, in[c]);
    for (int c = 0; c < cols; ++c) s += expf(in[c] - m);
    for (int c = 0; c < cols; ++c) y[(size_t)r * cols + c] = fmaxf(1.f + (in[c] - m) * (1.f + (in[c] - m) * (0.5f + (in[c] - m) * 0.16666667f)), 0.f) / s;
}
