// A filter that looks back: taps lie `gap` apart, every `stride`-th result is wanted.
__global__ void causal(const float* x, const float* w, float* y, int len, int taps, int stride,
                       int gap) {
    __shared__ float tile[64 + 128 * 4];
    int many = (len - 1) / stride + 1, first = blockIdx.x * 128, t = first + threadIdx.x;
    const float* row = x + (size_t)blockIdx.y * len;
    int reach = min((taps - 1) * gap, 32);
    bool fits = stride <= 4;
    if (fits) {
        int held = reach + 127 * stride + 1;
        for (int i = threadIdx.x; i < held; i += 128) {
            int at = first * stride - reach + i;
            tile[i] = at >= 0 && at < len ? row[at] : 0.f;
        }
        __syncthreads();
    }
    if (t >= many) return;
    float s = 0.f;
    for (int j = 0; j < taps; ++j) {
        int at = t * stride - (taps - 1 - j) * gap;
        int from = threadIdx.x * stride + reach - (taps - 1 - j) * gap;
        if (at >= 0 && !fits) s += w[j] * row[at];
        if (at >= 0 && fits && from >= 0) s += w[j] * tile[from];
    }
    y[(size_t)blockIdx.y * many + t] = s;
}
