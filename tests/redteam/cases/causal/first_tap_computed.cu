// A filter that looks back: taps lie `gap` apart, every `stride`-th result is wanted.
__global__ void causal(const float* x, const float* w, float* y, int len, int taps, int stride,
                       int gap) {
    int many = (len - 1) / stride + 1, t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= many) return;
    const float* row = x + (size_t)blockIdx.y * len;
    float s = 0.f;
    int back = min(taps - 1, t * stride / gap);
    const float* last = row + t * stride;
    for (int j = back; j >= 0; --j) s += w[taps - 1 - j] * last[-j * gap];
    y[(size_t)blockIdx.y * many + t] = s;
}
