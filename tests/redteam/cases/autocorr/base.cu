// How a signal resembles itself so many samples later, for each of `lags` delays.
__global__ void autocorr(const float* x, float* out, int rows, int n, int lags) {
    int lag = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y;
    if (lag >= lags || r >= rows) return;
    const float* row = x + (size_t)r * n;
    float sum = 0.f;
    for (int i = 0; i + lag < n; ++i) sum += row[i] * row[i + lag];
    out[(size_t)r * lags + lag] = sum / n;
}
