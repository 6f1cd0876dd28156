// Pitch by YIN: for each frame the difference function over the lags, divided by its running mean.
// curve[f][0] = 1; a lag up to which a frame does not differ from itself at all (silence), or differs by
// no number (a sample is missing, NaN), has 1 as well.
__global__ void pitch(const float* x, float* curve, int frames, int hop, int window, int lags) {
    extern __shared__ float diff[];
    int frame = blockIdx.x;
    const float* s = x + (size_t)frame * hop;
    for (int lag = 4 * threadIdx.x; lag < lags; lag += 4 * blockDim.x) {
        int some = min(4, lags - lag);
        const float* r = s + lag;
        float s0 = 0.0f, s1 = 0.0f, s2 = 0.0f, s3 = 0.0f;
        float b0 = r[0], b1 = window + some > 2 ? r[1] : 0.0f, b2 = window + some > 3 ? r[2] : 0.0f;
        for (int i = 0; i < window; i++) {
            float a = s[i];
            float b3 = i + 3 < window + some - 1 ? r[i + 3] : 0.0f;
            float d0 = a - b0, d1 = a - b1, d2 = a - b2, d3 = a - b3;
            s0 += d0 * d0;
            s1 += d1 * d1;
            s2 += d2 * d2;
            s3 += d3 * d3;
            b0 = b1;
            b1 = b2;
            b2 = b3;
        }
        diff[lag] = s0;
        if (some > 1) diff[lag + 1] = s1;
        if (some > 2) diff[lag + 2] = s2;
        if (some > 3) diff[lag + 3] = s3;
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
