__device__ float scaled(float sum, float top, float to) { return top == to ? sum : sum * expf(top - to); }

// Attention weights of each query over its own place and all before it; the farther a key, the more
// its head's slope takes from its score. What comes later has no weight. A warp a query, which finds the
// highest score and the sum on one way.
__global__ void alibi(const float* score, const float* slope, float* weight, int heads, int t) {
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= heads * t) return;
    int q = row % t;
    float m = slope[row / t], top = -INFINITY, sum = 0.f;
    const float* s = score + (size_t)row * t;
    float* w = weight + (size_t)row * t;
    for (int k = lane; k <= q; k += 32) {
        float v = s[k] - m * (q - k);
        if (v > top) {
            sum = sum * expf(top - v) + expf(v - v);
            top = v;
        } else if (v != -INFINITY) {
            sum += expf(v - top);
        }
    }
    for (int d = 16; d; d /= 2) {
        float other = __shfl_xor_sync(0xffffffffu, top, d), more = __shfl_xor_sync(0xffffffffu, sum, d);
        float both = fmaxf(top, other);
        sum = scaled(sum, top, both) + scaled(more, other, both);
        top = both;
    }
    for (int k = lane; k < t; k += 32) w[k] = k <= q ? expf(s[k] - m * (q - k) - top) / sum : 0.f;
}
