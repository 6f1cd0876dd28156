// The smallest and the largest number; what is no number is passed over.
__global__ void extent(const float* x, float* out, int n) {
    __shared__ float lows[1024], highs[1024];
    int t = threadIdx.x;
    float low = INFINITY, high = -INFINITY;
    for (int i = t; i < n; i += 1024) {
        low = fminf(low, x[i]);
        high = fmaxf(high, x[i]);
    }
    lows[t] = low;
    highs[t] = high;
    __syncthreads();
    for (int d = 512; d > 0; d /= 2) {
        if (t < d) {
            lows[t] = fminf(lows[t], lows[t + d]);
            highs[t] = fmaxf(highs[t], highs[t + d]);
        }
        __syncthreads();
    }
    if (t == 0) {
        out[0] = lows[0];
        out[1] = highs[0];
    }
}
