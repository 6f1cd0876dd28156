// A filter that looks back: taps lie `gap` apart, every `stride`-th result is wanted.
__global__ void causal(const float* x, const float* w, float* y, int len, int taps, int stride,
                       int gap) {
    int many = (len - 1) / stride + 1, t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= many) return;
    const float* row = x + (size_t)blockIdx.y * len;
    float s = 0.f;
    for (int j = 0; j < taps; ++j) {
        int at = t * stride - (taps - 1 - j) * gap;
        if (at >= 0) s += w[j] * row[at];
    }
    y[(size_t)blockIdx.y * many + t] = s;
}
