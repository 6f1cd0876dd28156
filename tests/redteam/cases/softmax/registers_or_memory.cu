__global__ void softmax(const float* x, float* y, int rows, int cols) {
    int r = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x & 31;
    if (r >= rows) return;
    const float* in = x + (size_t)r * cols;
    float* to = y + (size_t)r * cols;
    float v[16], m = -INFINITY, s = 0.f;
    bool held = cols <= 512;
    if (held) {
#pragma unroll
        for (int k = 0; k < 16; ++k) {
            v[k] = lane + 32 * k < cols ? in[lane + 32 * k] : -INFINITY;
            m = fmaxf(m, v[k]);
        }
    } else {
        for (int c = lane; c < cols; c += 32) m = fmaxf(m, in[c]);
    }
    for (int w = 16; w; w /= 2) m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, w));
    if (held) {
#pragma unroll
        for (int k = 0; k < 16; ++k)
            if (lane + 32 * k < cols) s += v[k] = expf(v[k] - m);
    } else {
        for (int c = lane; c < cols; c += 32) s += expf(in[c] - m);
    }
    for (int w = 16; w; w /= 2) s += __shfl_xor_sync(0xffffffffu, s, w);
    if (held) {
#pragma unroll
        for (int k = 0; k < 16; ++k)
            if (lane + 32 * k < cols) to[lane + 32 * k] = v[k] / s;
    } else {
        for (int c = lane; c < cols; c += 32) to[c] = expf(in[c] - m) / s;
    }
}
