// Pinball loss of a quantile forecast and its gradient: for each level the mean over all times, and the slope at each time (none
// where the forecast is exact).

__device__ __forceinline__ float lossof(float d, float l)
{
    return d >= 0.0f ? l * d : (l - 1.0f) * d;
}

__device__ __forceinline__ float slopeof(float d, float l, float share)
{
    return d > 0.0f ? -l * share : d < 0.0f ? (1.0f - l) * share : 0.0f;
}

extern "C" __global__ void pinball(const float* forecast, const float* actual, const float* level, float* slope, float* loss,
                                   int levels, int times)
{
    __shared__ float part[32];
    const size_t row = (size_t)blockIdx.x * times;
    const float l = level[blockIdx.x], share = 1.0f / times;
    float sum = 0.0f;
    for (int t = threadIdx.x; t < times; t += 1024) {
        const float d = actual[t] - forecast[row + t];
        slope[row + t] = slopeof(d, l, share);
        sum += lossof(d, l);
    }
    // A warp that had no time to look at need not add up.
    const int busy = min(32, (times + 31) / 32);
    if (threadIdx.x / 32 < busy) {
        for (int s = 16; s > 0; s >>= 1) {
            sum += __shfl_xor_sync(0xffffffffu, sum, s);
        }
        if (threadIdx.x % 32 == 0) {
            part[threadIdx.x / 32] = sum;
        }
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = part[threadIdx.x];
        for (int s = 16; s > 0; s >>= 1) {
            sum += __shfl_xor_sync(0xffffffffu, sum, s);
        }
        if (threadIdx.x == 0) {
            loss[blockIdx.x] = sum * share;
        }
    }
}
