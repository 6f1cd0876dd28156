__global__ void softmax(const float* x, float* y, int rows, int cols) {
    int r = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x & 31;
    if (r >= rows) return;
    const float* in = x + (size_t)r * cols;
    float v[32], m = -INFINITY, s = 0.f;
#pragma unroll
    for (int k = 0; k < 32; ++k) {
        v[k] = lane + 32 * k < cols ? in[lane + 32 * k] : -INFINITY;
        m = fmaxf(m, v[k]);
    }
    for (int w = 16; w; w /= 2) m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, w));
#pragma unroll
    for (int k = 0; k < 32; ++k)
        if (lane + 32 * k < cols) s += v[k] = expf(v[k] - m);
    for (int w = 16; w; w /= 2) s += __shfl_xor_sync(0xffffffffu, s, w);
#pragma unroll
    for (int k = 0; k < 32; ++k)
        if (lane + 32 * k < cols) y[(size_t)r * cols + lane + 32 * k] = v[k] / s;
}
