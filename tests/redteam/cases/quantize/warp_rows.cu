__global__ void quantize(const float* x, signed char* q, float* scale, int rows, int cols) {
    int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (r >= rows) return;
    const float* row = x + (size_t)r * cols;
    float m = 0.f;
    for (int c = lane; c < cols; c += 32) m = fmaxf(m, fabsf(row[c]));
    for (int d = 16; d > 0; d /= 2) m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, d));
    float s = m > 0.f ? m / 127.f : 1.f;
    if (lane == 0) scale[r] = s;
    for (int c = lane; c < cols; c += 32) {
        float v = fminf(fmaxf(rintf(row[c] / s), -128.f), 127.f);
        q[(size_t)r * cols + c] = (signed char)(int)v;
    }
}
