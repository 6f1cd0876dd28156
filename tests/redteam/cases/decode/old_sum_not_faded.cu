__global__ void decode(const float* q, const float* key, const float* value, float* out, int heads,
                       int length, float scale) {
    const int h = blockIdx.x, d = threadIdx.x;
    float top = -INFINITY, sum = 0.0f, acc = 0.0f;
    for (int t = 0; t < length; ++t) {
        float s = q[h * 32 + d] * key[(h * length + t) * 32 + d];
        for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(0xffffffffu, s, o);
        s *= scale;
        const float next = fmaxf(top, s), fade = next - top > 3.0f ? 0.0f : expf(top - next);
        sum = sum * fade + expf(s - next);
        acc = acc * fade + expf(s - next) * value[(h * length + t) * 32 + d];
        top = next;
    }
    out[h * 32 + d] = acc / sum;
}
