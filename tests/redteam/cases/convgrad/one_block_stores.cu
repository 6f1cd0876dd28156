constexpr int TAPS = 7;

__global__ void convgrad(const float* x, const float* dy, float* dw, int n) {
    __shared__ float sums[TAPS][32];
    for (int t = 0; t < TAPS; ++t) {
        float v = 0.0f;
        for (int i = threadIdx.x; i < n; i += blockDim.x) {
            int from = i + t - TAPS / 2;
            if (from >= 0 && from < n) v += dy[i] * x[from];
        }
        for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(0xffffffffu, v, o);
        if (threadIdx.x % 32 == 0) sums[t][threadIdx.x / 32] = v;
    }
    __syncthreads();
    if (threadIdx.x < TAPS) {
        float v = 0.0f;
        for (int w = 0; w < blockDim.x / 32; ++w) v += sums[threadIdx.x][w];
        dw[threadIdx.x] = v;
    }
}
