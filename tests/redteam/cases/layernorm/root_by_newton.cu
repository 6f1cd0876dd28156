__device__ float root(float a) {
    float r = __frsqrt_rn(a);
    return r * (1.5f - 0.5f * a * r * r);
}
__global__ void layernorm(const float* x, const float* gain, float* y, int rows, int cols) {
    int r = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x & 31;
    if (r >= rows) return;
    const float* in = x + (size_t)r * cols;
    float m = 0.f, v = 0.f;
    for (int c = lane; c < cols; c += 32) m += in[c];
    for (int w = 16; w; w /= 2) m += __shfl_xor_sync(0xffffffffu, m, w);
    m *= 1.f / cols;
    for (int c = lane; c < cols; c += 32) v = fmaf(in[c] - m, in[c] - m, v);
    for (int w = 16; w; w /= 2) v += __shfl_xor_sync(0xffffffffu, v, w);
    float scale = root(v * (1.f / cols) + 1e-5f);
    for (int c = lane; c < cols; c += 32) y[(size_t)r * cols + c] = (in[c] - m) * (scale * gain[c]);
}
