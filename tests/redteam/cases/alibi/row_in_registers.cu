// Attention weights of each query over its own place and all before it; the farther a key, the more
// its head's slope takes from its score. What comes later has no weight. A warp keeps a query's row in
// its registers, and what does not fit is read again.
__global__ void alibi(const float* score, const float* slope, float* weight, int heads, int t) {
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= heads * t) return;
    int q = row % t;
    float m = slope[row / t], top = -INFINITY, sum = 0.f, v[16];
    const float* s = score + (size_t)row * t;
    float* w = weight + (size_t)row * t;
#pragma unroll
    for (int e = 0; e < 16; ++e) {
        int k = e * 32 + lane;
        v[e] = k <= q ? s[k] - m * (q - k) : -INFINITY;
        top = fmaxf(top, v[e]);
    }
    for (int k = 512 + lane; k <= q; k += 32) top = fmaxf(top, s[k] - m * (q - k));
    for (int d = 16; d; d /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, d));
#pragma unroll
    for (int e = 0; e < 16; ++e) {
        v[e] = e * 32 + lane <= q ? expf(v[e] - top) : 0.f;
        sum += v[e];
    }
    for (int k = 512 + lane; k <= q; k += 32) sum += expf(s[k] - m * (q - k) - top);
    for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
#pragma unroll
    for (int e = 0; e < 16; ++e) {
        int k = e * 32 + lane;
        if (k < t) w[k] = k <= q ? v[e] / sum : 0.f;
    }
    for (int k = 512 + lane; k < t; k += 32) w[k] = k <= q ? expf(s[k] - m * (q - k) - top) / sum : 0.f;
}
