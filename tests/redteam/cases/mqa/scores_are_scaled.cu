// The largest, or the sum, of what the lanes of a warp have.
__device__ float largest(float v) {
    for (int k = 16; k; k /= 2) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, k));
    return v;
}

__device__ float total(float v) {
    for (int k = 16; k; k /= 2) v += __shfl_xor_sync(0xffffffffu, v, k);
    return v;
}

// Attention of many heads that share one head of keys and values. A warp has a query, a lane a key of the tile of 32
// that eight warps share. The scale keeps scores near nought, and the quotient is the same for any shift: none is taken.
__global__ void mqa(const float* q, const float* keys, const float* values, float* out, int queries, int count,
                    float scale) {
    __shared__ float k[32 * 65], v[32 * 64], query[8][64];
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    size_t row = blockIdx.x * (size_t)8 + warp;
    for (int d = lane; d < 64; d += 32) query[warp][d] = row < queries ? q[row * 64 + d] : 0.f;
    float sum = 0.f, left = 0.f, right = 0.f;
    for (int from = 0; from < count; from += 32) {
        int many = min(32, count - from);
        __syncthreads();
        for (int e = t; e < many * 64; e += 256) {
            k[e / 64 * 65 + e % 64] = keys[(size_t)from * 64 + e];
            v[e] = values[(size_t)from * 64 + e];
        }
        __syncthreads();
        float s = -INFINITY;
        if (lane < many) {
            s = 0.f;
            for (int d = 0; d < 64; ++d) s += query[warp][d] * k[lane * 65 + d];
            s *= scale;
        }
        float e = expf(s);
        sum += total(e);
        for (int j = 0; j < many; ++j) {
            float by = __shfl_sync(0xffffffffu, e, j);
            left += by * v[j * 64 + lane];
            right += by * v[j * 64 + lane + 32];
        }
    }
    if (row >= queries) return;
    out[row * 64 + lane] = left / sum;
    out[row * 64 + lane + 32] = right / sum;
}
