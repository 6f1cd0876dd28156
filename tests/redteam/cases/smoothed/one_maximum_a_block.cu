__global__ void smoothed(const float* x, const int* label, float* loss, float* dx, int rows, int cols,
                         float smooth) {
    __shared__ float top[8];
    int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    const float* row = x + (size_t)r * cols;
    float m = -INFINITY, s = 0.f, u = 0.f;
    if (r < rows)
        for (int c = lane; c < cols; c += 32) m = fmaxf(m, row[c]);
    for (int d = 16; d; d >>= 1) m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, d));
    if (lane == 0) top[threadIdx.x / 32] = m;
    __syncthreads();
    for (int w = 0; w < 8; ++w) m = fmaxf(m, top[w]);
    if (r >= rows) return;
    int k = __ldg(label + r);
    bool used = k >= 0 && k < cols;
    for (int c = lane; c < cols; c += 32) {
        s += expf(row[c] - m);
        u += row[c] - m;
    }
    for (int d = 16; d; d >>= 1) {
        s += __shfl_xor_sync(0xffffffffu, s, d);
        u += __shfl_xor_sync(0xffffffffu, u, d);
    }
    if (lane == 0)
        loss[r] = used ? logf(s) - (1.f - smooth) * (row[k] - m) - smooth * (u / cols) : 0.f;
    float inverse = 1.f / s;
    for (int c = lane; c < cols; c += 32) {
        float target = smooth / cols + (c == k ? 1.f - smooth : 0.f);
        dx[(size_t)r * cols + c] = used ? expf(row[c] - m) * inverse - target : 0.f;
    }
}
