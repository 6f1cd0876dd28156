__global__ void prefill(const float* q, const float* k, const float* v, float* out, int length,
                        float scale) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= length) return;
    size_t head = (size_t)blockIdx.y * length * 32;
    const float* a = q + head + (size_t)i * 32;
    float top = -INFINITY, sum = 0.f, acc[32] = {};
    for (int t = 0; t <= i; ++t) {
        float s = 0.f;
        for (int d = 0; d < 32; ++d) s += a[d] * k[head + (size_t)t * 32 + d];
        top = fmaxf(top, s * scale);
    }
    for (int t = 0; t <= i; ++t) {
        float s = 0.f;
        for (int d = 0; d < 32; ++d) s += a[d] * k[head + (size_t)t * 32 + d];
        float w = expf(s * scale - top);
        sum += w;
        for (int d = 0; d < 32; ++d) acc[d] += w * v[head + (size_t)t * 32 + d];
    }
    for (int d = 0; d < 32; ++d) out[head + (size_t)i * 32 + d] = acc[d] / sum;
}
