// How a signal resembles itself so many samples later: a warp for each delay.
__global__ void autocorr(const float* x, float* out, int rows, int n, int lags) {
    int lane = threadIdx.x % 32, r = blockIdx.y;
    int lag = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (lag >= lags || r >= rows) return;
    const float* row = x + (size_t)r * n;
    float a = 0.f;
#pragma unroll 4
    for (int k = 0; k < 512; ++k) {
        int i = k * 32 + lane;
        if (k * 32 + lag >= n) break;
        if (i + lag < n) a += row[i] * row[i + lag];
    }
    for (int s = 16; s; s /= 2) a += __shfl_down_sync(0xffffffffu, a, s);
    if (lane == 0) out[(size_t)r * lags + lag] = a / n;
}
