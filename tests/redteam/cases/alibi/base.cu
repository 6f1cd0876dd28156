// Attention weights of each query over its own place and all before it; the farther a key, the more
// its head's slope takes from its score. What comes later has no weight.
__global__ void alibi(const float* score, const float* slope, float* weight, int heads, int t) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= heads * t) return;
    int q = row % t;
    float m = slope[row / t], top = -INFINITY, sum = 0.f;
    const float* s = score + (size_t)row * t;
    float* w = weight + (size_t)row * t;
    for (int k = 0; k <= q; ++k) top = fmaxf(top, s[k] - m * (q - k));
    for (int k = 0; k <= q; ++k) sum += expf(s[k] - m * (q - k) - top);
    for (int k = 0; k < t; ++k) w[k] = k <= q ? expf(s[k] - m * (q - k) - top) / sum : 0.f;
}
