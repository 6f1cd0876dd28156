// How unlike the values of a row are that so many places lie between: half the mean square of their differences, for
// each distance up to the number of lags; zero where no two places are so far apart.
// A warp has a row and a lag, and four differences are on their way at once.
__global__ void variogram(const float* x, float* out, int rows, int m, int lags) {
    size_t i = blockIdx.x * (size_t)8 + threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    if (i >= (size_t)rows * lags) return;
    const float* a = x + i / lags * m;
    int lag = i % lags + 1, pairs = m - lag, j = lane;
    float sum[4] = {};
    for (; j - lane + 128 <= pairs; j += 128)
#pragma unroll
        for (int u = 0; u < 4; ++u) {
            float d = a[j + 32 * u + lag] - a[j + 32 * u];
            sum[u] += d * d;
        }
    // The rest.
    if (j < pairs) {
        float d = a[j + lag] - a[j];
        sum[0] += d * d;
    }
    float all = sum[0] + sum[1] + (sum[2] + sum[3]);
    for (int s = 16; s; s /= 2) all += __shfl_xor_sync(0xffffffffu, all, s);
    if (lane == 0) out[i] = pairs > 0 ? all / (2.f * pairs) : 0.f;
}
