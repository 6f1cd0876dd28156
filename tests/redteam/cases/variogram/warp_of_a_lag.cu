// How unlike the values of a row are that so many places lie between: half the mean square of their differences, for
// each distance up to the number of lags; zero where no two places are so far apart.
// A warp has a row and a lag.
__global__ void variogram(const float* x, float* out, int rows, int m, int lags) {
    size_t i = blockIdx.x * (size_t)8 + threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    if (i >= (size_t)rows * lags) return;
    const float* a = x + i / lags * m;
    int lag = i % lags + 1, pairs = m - lag;
    float sum = 0.f;
    for (int j = lane; j < pairs; j += 32) {
        float d = a[j + lag] - a[j];
        sum += d * d;
    }
    for (int s = 16; s; s /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, s);
    if (lane == 0) out[i] = pairs > 0 ? sum / (2.f * pairs) : 0.f;
}
