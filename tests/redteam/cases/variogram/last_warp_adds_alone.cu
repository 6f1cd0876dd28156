// How unlike the values of a row are that so many places lie between: half the mean square of their differences, for
// each distance up to the number of lags; zero where no two places are so far apart.
// A block has a row and a lag; once a warp is left, there is nobody to wait for.
__global__ void variogram(const float* x, float* out, int rows, int m, int lags) {
    __shared__ float part[128];
    size_t i = blockIdx.x;
    int t = threadIdx.x;
    const float* a = x + i / lags * m;
    int lag = i % lags + 1, pairs = m - lag;
    float sum = 0.f;
    for (int j = t; j < pairs; j += 128) {
        float d = a[j + lag] - a[j];
        sum += d * d;
    }
    part[t] = sum;
    __syncthreads();
    if (t < 64) part[t] += part[t + 64];
    __syncthreads();
    if (t < 32) {
        part[t] += part[t + 32];
        part[t] += part[t + 16];
        part[t] += part[t + 8];
        part[t] += part[t + 4];
        part[t] += part[t + 2];
        part[t] += part[t + 1];
    }
    if (t == 0) out[i] = pairs > 0 ? part[0] / (2.f * pairs) : 0.f;
}
