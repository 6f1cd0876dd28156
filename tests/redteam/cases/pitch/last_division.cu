// Pitch by YIN: for each frame the difference function over the lags, divided by its running mean.
// curve[f][0] = 1; a lag up to which a frame does not differ from itself at all (silence), or differs by
// no number (a sample is missing, NaN), has 1 as well.
__global__ void pitch(const float* x, float* curve, int frames, int hop, int window, int lags) {
    extern __shared__ float diff[];
    int frame = blockIdx.x;
    const float* s = x + (size_t)frame * hop;
    for (int lag = threadIdx.x; lag < lags; lag += blockDim.x) {
        float sum = 0.0f;
        for (int i = 0; i < window; i++) {
            float d = s[i] - s[i + lag];
            sum += d * d;
        }
        diff[lag] = sum;
    }
    __syncthreads();
    __shared__ float sums_before[1024];
    float* out = curve + (size_t)frame * lags;
    int each = (lags + blockDim.x - 1) / blockDim.x;
    int from = max(1, (int)threadIdx.x * each), to = min(lags, (int)(threadIdx.x + 1) * each);
    float mine = 0.0f;
    for (int lag = from; lag < to; lag++) mine += diff[lag];
    sums_before[threadIdx.x] = mine;
    __syncthreads();
    float running = 0.0f;
    for (int k = 0; k < (int)threadIdx.x; k++) running += sums_before[k];
    if (threadIdx.x == 0) out[0] = 1.0f;
    for (int lag = from; lag < to; lag++) {
        running += diff[lag];
        out[lag] = running == 0.0f ? 1.0f : diff[lag] * (float)lag / running;
    }
}
