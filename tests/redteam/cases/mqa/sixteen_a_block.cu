// The largest, or the sum, of what the lanes of a warp have.
__device__ float largest(float v) {
    for (int k = 16; k; k /= 2) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, k));
    return v;
}

__device__ float total(float v) {
    for (int k = 16; k; k /= 2) v += __shfl_xor_sync(0xffffffffu, v, k);
    return v;
}

// Attention of many heads that share one head of keys and values. A block has sixteen queries with all of their scores
// in shared memory, so that keys and values are read once for all of them.
__global__ void mqa(const float* q, const float* keys, const float* values, float* out, int queries, int count,
                    float scale) {
    extern __shared__ float p[];
    __shared__ float query[64 * 16], sums[16];
    int t = threadIdx.x, lane = t % 32;
    size_t first = blockIdx.x * (size_t)16;
    for (int e = t; e < 1024; e += 256) query[e % 64 * 16 + e / 64] = first + e / 64 < queries ? q[first * 64 + e] : 0.f;
    __syncthreads();
    for (int j = t; j < count; j += 256) {
        float s[16] = {};
        for (int d = 0; d < 64; ++d) {
            float key = keys[(size_t)j * 64 + d];
            for (int i = 0; i < 16; ++i) s[i] += query[d * 16 + i] * key;
        }
        for (int i = 0; i < 16; ++i) p[(size_t)i * count + j] = s[i] * scale;
    }
    __syncthreads();
    for (int i = t / 32; i < 16; i += 8) {
        float top = -INFINITY, sum = 0.f, *mine = p + (size_t)i * count;
        for (int j = lane; j < count; j += 32) top = fmaxf(top, mine[j]);
        top = largest(top);
        for (int j = lane; j < count; j += 32) sum += mine[j] = expf(mine[j] - top);
        sum = total(sum);
        if (lane == 0) sums[i] = sum;
    }
    __syncthreads();
    int d = t % 64, from = t / 64 * 4;
    float o[4] = {};
    for (int j = 0; j < count; ++j) {
        float value = values[(size_t)j * 64 + d];
        for (int i = 0; i < 4; ++i) o[i] += p[(size_t)(from + i) * count + j] * value;
    }
    for (int i = 0; i < 4; ++i)
        if (first + from + i < queries) out[(first + from + i) * 64 + d] = o[i] / sums[from + i];
}
