// How unlike the values of a row are that so many places lie between: half the mean square of their differences, for
// each distance up to the number of lags; zero where no two places are so far apart.
__global__ void variogram(const float* x, float* out, int rows, int m, int lags) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= (size_t)rows * lags) return;
    const float* a = x + i / lags * m;
    int lag = i % lags + 1, pairs = m - lag;
    float sum = 0.f;
    for (int j = 0; j < pairs; ++j) {
        float d = a[j + lag] - a[j];
        sum += d * d;
    }
    out[i] = pairs > 0 ? sum / (2.f * pairs) : 0.f;
}
