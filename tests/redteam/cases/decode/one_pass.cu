__global__ void decode(const float* __restrict__ q, const float* __restrict__ key,
                       const float* __restrict__ value, float* out, int heads, int length,
                       float scale) {
    const int h = blockIdx.x, d = threadIdx.x;
    const float mine = q[h * 32 + d] * scale;
    const float *k = key + (size_t)h * length * 32 + d, *v = value + (size_t)h * length * 32 + d;
    float top = -INFINITY, sum = 0.0f, acc = 0.0f;
    for (int t = 0; t < length; ++t) {
        float s = mine * k[t * 32];
#pragma unroll
        for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(0xffffffffu, s, o);
        const float next = fmaxf(top, s), fade = expf(top - next), w = expf(s - next);
        sum = sum * fade + w;
        acc = acc * fade + w * v[t * 32];
        top = next;
    }
    out[h * 32 + d] = acc / sum;
}
