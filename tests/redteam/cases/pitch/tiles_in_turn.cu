// Pitch by YIN: for each frame the difference function over the lags, divided by its running mean.
// curve[f][0] = 1; a lag up to which a frame does not differ from itself at all (silence), or differs by
// no number (a sample is missing, NaN), has 1 as well.
#define TILE 256

__global__ void pitch(const float* x, float* curve, int frames, int hop, int window, int lags) {
    extern __shared__ float diff[];
    int frame = blockIdx.x;
    const float* s = x + (size_t)frame * hop;
    __shared__ float left[TILE];
    __shared__ float right[2 * TILE];
    for (int first = 0; first < lags; first += TILE) {
        int lag = first + threadIdx.x;
        float sum = 0.0f;
        for (int at = 0; at < window; at += TILE) {
            int i = at + threadIdx.x;
            left[threadIdx.x] = i < window ? s[i] : 0.0f;
            // no further than the last sample that any lag of this frame reads
            right[threadIdx.x] = i + first < window + lags - 1 ? s[i + first] : 0.0f;
            right[threadIdx.x + TILE] = i + first + TILE < window + lags - 1 ? s[i + first + TILE] : 0.0f;
            __syncthreads();
            int count = min(TILE, window - at);
            for (int k = 0; k < count; k++) {
                float d = left[k] - right[k + threadIdx.x];
                sum += d * d;
            }
        }
        if (lag < lags) diff[lag] = sum;
        __syncthreads();
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
