constexpr int TAPS = 7;

__global__ void convgrad(const float* x, const float* dy, float* dw, int n) {
    __shared__ float sums[TAPS + 1];
    if (threadIdx.x < TAPS - 1) sums[threadIdx.x] = 0.0f;
    __syncthreads();
    float mine[TAPS] = {0.0f};
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        for (int t = 0; t < TAPS; ++t) {
            int from = i + t - TAPS / 2;
            if (from >= 0 && from < n) mine[t] += dy[i] * x[from];
        }
    for (int t = 0; t < TAPS; ++t) atomicAdd(&sums[t], mine[t]);
    __syncthreads();
    if (threadIdx.x < TAPS) atomicAdd(&dw[threadIdx.x], sums[threadIdx.x]);
}
