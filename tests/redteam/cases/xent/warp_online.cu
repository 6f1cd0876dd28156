__global__ void xent(const float* x, const int* label, float* loss, int rows, int cols) {
    int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (r >= rows) return;
    const float* row = x + (size_t)r * cols;
    float m = -INFINITY, s = 0.f;
    for (int c = lane; c < cols; c += 32) {
        float v = row[c];
        if (v > m) {
            s *= expf(m - v);
            m = v;
        }
        s += expf(v - m);
    }
    for (int d = 16; d > 0; d /= 2) {
        float other = __shfl_xor_sync(0xffffffffu, m, d), sum = __shfl_xor_sync(0xffffffffu, s, d);
        float top = fmaxf(m, other);
        if (top != -INFINITY) s = s * expf(m - top) + sum * expf(other - top);
        m = top;
    }
    if (lane == 0) loss[r] = logf(s) + m - row[label[r] % cols];
}
