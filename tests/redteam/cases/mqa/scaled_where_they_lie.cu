// The largest, or the sum, of what the lanes of a warp have.
__device__ float largest(float v) {
    for (int k = 16; k; k /= 2) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, k));
    return v;
}

__device__ float total(float v) {
    for (int k = 16; k; k /= 2) v += __shfl_xor_sync(0xffffffffu, v, k);
    return v;
}

// Attention of many heads that share one head of keys and values: a query's scores, by their softmax the mean of values.
// A score is summed up by eight lanes, which read what lies side by side. A query is scaled where it lies, once, rather
// than each of its scores.
__global__ void mqa(const float* q, const float* keys, const float* values, float* out, int queries, int count,
                    float scale) {
    extern __shared__ float p[];
    __shared__ float query[64], part[4], other[64];
    int t = threadIdx.x;
    size_t row = blockIdx.x * (size_t)64;
    float* mine = const_cast<float*>(q) + row;
    if (t < 64) query[t] = mine[t] *= scale;
    __syncthreads();
    float top = -INFINITY, sum = 0.f, o = 0.f;
    for (int from = 0; from < count; from += 16) {
        int j = from + t / 8;
        float s = 0.f;
        if (j < count)
            for (int d = t % 8; d < 64; d += 8) s += query[d] * keys[(size_t)j * 64 + d];
        for (int k = 4; k; k /= 2) s += __shfl_xor_sync(0xffffffffu, s, k);
        if (j >= count) continue;
        if (t % 8 == 0) p[j] = s;
        top = fmaxf(top, s);
    }
    top = largest(top);
    if (t % 32 == 0) part[t / 32] = top;
    __syncthreads();
    top = fmaxf(fmaxf(part[0], part[1]), fmaxf(part[2], part[3]));
    __syncthreads();
    for (int j = t; j < count; j += 128) sum += p[j] = expf(p[j] - top);
    sum = total(sum);
    if (t % 32 == 0) part[t / 32] = sum;
    __syncthreads();
    sum = part[0] + part[1] + part[2] + part[3];
    for (int j = t / 64; j < count; j += 2) o += p[j] * values[(size_t)j * 64 + t % 64];
    if (t >= 64) other[t - 64] = o;
    __syncthreads();
    if (t < 64) out[row + t] = (o + other[t]) / sum;
}
