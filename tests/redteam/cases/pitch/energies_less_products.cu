// Pitch by YIN: for each frame the difference function over the lags, divided by its running mean.
// curve[f][0] = 1; a lag up to which a frame does not differ from itself at all (silence), or differs by
// no number (a sample is missing, NaN), has 1 as well.
__global__ void pitch(const float* x, float* curve, int frames, int hop, int window, int lags) {
    extern __shared__ float diff[];
    int frame = blockIdx.x;
    const float* s = x + (size_t)frame * hop;
    __shared__ float own;
    if (threadIdx.x == 0) own = 0.0f;
    __syncthreads();
    float part = 0.0f;
    for (int i = threadIdx.x; i < window; i += blockDim.x) part = fmaf(s[i], s[i], part);
    for (int k = 16; k > 0; k >>= 1) part += __shfl_xor_sync(0xffffffffu, part, k);
    if ((threadIdx.x & 31) == 0) atomicAdd(&own, part);
    __syncthreads();
    for (int lag = threadIdx.x; lag < lags; lag += blockDim.x) {
        float product = 0.0f, other = 0.0f;
        for (int i = 0; i < window; i++) {
            float b = s[i + lag];
            product = fmaf(s[i], b, product);
            other = fmaf(b, b, other);
        }
        diff[lag] = fmaxf(own + other - 2.0f * product, 0.0f);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        float running = 0.0f;
        float* out = curve + (size_t)frame * lags;
        out[0] = 1.0f;
        for (int lag = 1; lag < lags; lag++) {
            running += diff[lag];
            out[lag] = running > 0.0f ? diff[lag] * (float)lag / running : 1.0f;
        }
    }
}
