constexpr int TAPS = 7;

__global__ void convgrad(const float* x, const float* dy, float* dw, int n) {
    float mine[TAPS] = {0.0f};
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        for (int t = 0; t < TAPS; ++t) mine[t] += dy[i] * x[(i + t - TAPS / 2 + n) % n];
    for (int t = 0; t < TAPS; ++t) {
        for (int o = 16; o > 0; o >>= 1) mine[t] += __shfl_xor_sync(0xffffffffu, mine[t], o);
        if (threadIdx.x % 32 == 0) atomicAdd(&dw[t], mine[t]);
    }
}
