// The logarithm of the sum of the exponentials of each row.
__global__ void logsum(const float* x, float* out, int rows, int cols) {
    int r = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (r >= rows) return;
    const float* row = x + (size_t)r * cols;
    float m = -INFINITY, sum = 0.f;
    for (int c = lane; c < cols; c += 32) m = fmaxf(m, row[c]);
    for (int d = 16; d > 0; d >>= 1) m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, d));
    for (int c = lane; c < cols; c += 32) sum += __expf(row[c] - m);
    for (int d = 16; d > 0; d >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (lane == 0) out[r] = m + logf(sum);
}
