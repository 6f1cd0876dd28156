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
    __shared__ float totals[32];
    __shared__ float carried;
    float* out = curve + (size_t)frame * lags;
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
    if (threadIdx.x == 0) {
        out[0] = 1.0f;
        carried = 0.0f;
    }
    __syncthreads();
    for (int first = 1; first < lags; first += blockDim.x) {
        int lag = first + threadIdx.x;
        float d = lag < lags ? diff[lag] : 0.0f;
        float running = d;
        for (int k = 1; k < 32; k <<= 1) {
            float other = __shfl_up_sync(0xffffffffu, running, k);
            if (lane >= k) running += other;
        }
        if (lane == 31) totals[warp] = running;
        __syncthreads();
        float before = carried;
        for (int k = 0; k < warp; k++) before += totals[k];
        running += before;
        if (lag < lags) out[lag] = running > 0.0f ? d * (float)lag / running : 1.0f;
        __syncthreads();
        if (threadIdx.x == 0) {
            float all = carried;
            for (int k = 0; k < warps; k++) all += totals[k];
            carried = all;
        }
        __syncthreads();
    }
}
