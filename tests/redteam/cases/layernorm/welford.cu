__global__ void layernorm(const float* x, const float* gain, float* y, int rows, int cols) {
    int r = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x & 31;
    if (r >= rows) return;
    const float* in = x + (size_t)r * cols;
    float m = 0.f, q = 0.f, count = 0.f;
    for (int c = lane; c < cols; c += 32) {
        count += 1.f;
        float d = in[c] - m;
        m += d / count;
        q += d * (in[c] - m);
    }
    for (int w = 1; w < 32; w *= 2) {
        float n2 = __shfl_xor_sync(0xffffffffu, count, w), m2 = __shfl_xor_sync(0xffffffffu, m, w);
        float q2 = __shfl_xor_sync(0xffffffffu, q, w), all = count + n2, d = m2 - m;
        if (all > 0.f) {
            // The same in both lanes, whichever of the two is here.
            float mean = (count * m + n2 * m2) / all;
            q = q + q2 + d * d * count * n2 / all;
            m = mean;
            count = all;
        }
    }
    float scale = rsqrtf(q / cols + 1e-5f);
    for (int c = lane; c < cols; c += 32) y[(size_t)r * cols + c] = (in[c] - m) * scale * gain[c];
}
