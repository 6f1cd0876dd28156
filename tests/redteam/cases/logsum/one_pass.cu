// The logarithm of the sum of the exponentials of each row.
__device__ void join(float& m, float& s, float m2, float s2) {
    float top = fmaxf(m, m2);
    if (s2 == 0.f) return;
    s = s * expf(m - top) + s2 * expf(m2 - top);
    m = top;
}

__global__ void logsum(const float* x, float* out, int rows, int cols) {
    __shared__ float most[4], sums[4];
    int r = blockIdx.x, t = threadIdx.x;
    const float* row = x + (size_t)r * cols;
    float m = -INFINITY, s = 0.f;
    for (int c = t; c < cols; c += 128) join(m, s, row[c], row[c] == -INFINITY ? 0.f : 1.f);
    for (int d = 16; d > 0; d >>= 1)
        join(m, s, __shfl_xor_sync(0xffffffffu, m, d), __shfl_xor_sync(0xffffffffu, s, d));
    if (t % 32 == 0) most[t / 32] = m, sums[t / 32] = s;
    __syncthreads();
    if (t) return;
    for (int w = 1; w < 4; ++w) join(m, s, most[w], sums[w]);
    out[r] = m + logf(s);
}
