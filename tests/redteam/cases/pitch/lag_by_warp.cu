// Pitch by YIN: for each frame the difference function over the lags, divided by its running mean.
// curve[f][0] = 1; a lag up to which a frame does not differ from itself at all (silence), or differs by
// no number (a sample is missing, NaN), has 1 as well.
__global__ void pitch(const float* x, float* curve, int frames, int hop, int window, int lags) {
    extern __shared__ float diff[];
    int frame = blockIdx.x;
    const float* s = x + (size_t)frame * hop;
    int lane = threadIdx.x & 31;
    for (int lag = threadIdx.x >> 5; lag < lags; lag += blockDim.x >> 5) {
        float sum = 0.0f;
        for (int i = lane; i < window; i += 32) {
            float d = s[i] - s[i + lag];
            sum = fmaf(d, d, sum);
        }
        for (int k = 16; k > 0; k >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, k);
        if (lane == 0) diff[lag] = sum;
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
