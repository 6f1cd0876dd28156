// How a signal resembles itself so many samples later: a warp for each delay.
__global__ void autocorr(const float* x, float* out, int rows, int n, int lags) {
    int lane = threadIdx.x % 32, r = blockIdx.y;
    int lag = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (lag >= lags || r >= rows) return;
    const float* row = x + (size_t)r * n;
    float a = 0.f, b = 0.f;
    int i = lane, end = n - lag;
    for (; i + 32 < end; i += 64) {
        a += row[i] * row[i + lag];
        b += row[i + 32] * row[i + 32 + lag];
    }
    if (i < end) a += row[i] * row[i + lag];
    a += b;
    for (int s = 16; s; s /= 2) a += __shfl_down_sync(0xffffffffu, a, s);
    if (lane == 0) out[(size_t)r * lags + lag] = a / n;
}
