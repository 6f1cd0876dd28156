// How unlike the values of a row are that so many places lie between: half the mean square of their differences, for
// each distance up to the number of lags; zero where no two places are so far apart.
// A block has a row and eight lags, one for each warp; the row goes through shared memory, 16384 places at a time.
__global__ void variogram(const float* x, float* out, int rows, int m, int lags) {
    extern __shared__ float tile[];
    int eights = (lags + 7) / 8, t = threadIdx.x, lane = t % 32;
    size_t row = blockIdx.x / eights;
    int lag = blockIdx.x % eights * 8 + t / 32 + 1, pairs = lag <= lags ? m - lag : 0;
    const float* a = x + row * m;
    float sum = 0.f;
    for (int first = 0; first < m; first += 16384) {
        int many = min(16384, m - first);
        for (int k = t; k < many; k += 256) tile[k] = a[first + k];
        __syncthreads();
        for (int k = lane; k < many && first + k < pairs; k += 32) {
            float d = (k + lag < many ? tile[k + lag] : a[first + k + lag]) - tile[k];
            sum += d * d;
        }
        __syncthreads();
    }
    for (int s = 16; s; s /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, s);
    if (lane == 0 && lag <= lags) out[row * lags + lag - 1] = pairs > 0 ? sum / (2.f * pairs) : 0.f;
}
