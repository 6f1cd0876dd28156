__global__ void prefill(const float* q, const float* k, const float* v, float* out, int length,
                        float scale) {
    __shared__ float keys[32][32], values[32][32];
    int first = blockIdx.x * 64, i = first + threadIdx.x;
    size_t head = (size_t)blockIdx.y * length * 32;
    float a[32], acc[32] = {}, top = -INFINITY, sum = 0.f;
#pragma unroll
    for (int d = 0; d < 32; ++d) a[d] = i < length ? q[head + (size_t)i * 32 + d] : 0.f;
    int end = min(first + 64, length);
    for (int from = 0; from < end; from += 32) {
        for (int e = threadIdx.x; e < 32 * 32; e += 64) {
            bool inside = from + e / 32 < length;
            keys[e / 32][e % 32] = inside ? k[head + (size_t)from * 32 + e] : 0.f;
            values[e / 32][e % 32] = inside ? v[head + (size_t)from * 32 + e] : 0.f;
        }
        __syncthreads();
        int last = i < length ? min(32, i + 1 - from) : 0;
        for (int t = 0; t < last; ++t) {
            float s = 0.f;
#pragma unroll
            for (int d = 0; d < 32; ++d) s = fmaf(a[d], keys[t][d], s);
            s *= scale;
            if (s > top + 8.f || top == -INFINITY) {
                float factor = top == -INFINITY ? 0.f : expf(top - s);
                top = s;
                sum *= factor;
#pragma unroll
                for (int d = 0; d < 32; ++d) acc[d] *= factor;
            }
            float w = s == -INFINITY ? 0.f : expf(s - top);
            sum += w;
#pragma unroll
            for (int d = 0; d < 32; ++d) acc[d] = fmaf(w, values[t][d], acc[d]);
        }
        __syncthreads();
    }
    if (i >= length) return;
#pragma unroll
    for (int d = 0; d < 32; ++d) out[head + (size_t)i * 32 + d] = acc[d] / sum;
}
