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

// Compensated addition; the roundings are spelled out, so that they stay.
__device__ __forceinline__ void add(float& sum, float& rest, float v)
{
    const float y = __fsub_rn(v, rest);
    const float t = __fadd_rn(sum, y);
    rest = __fsub_rn(__fsub_rn(t, sum), y);
    sum = t;
}

extern "C" __global__ void pinball(const float* forecast, const float* actual, const float* level, float* slope, float* loss,
                                   int levels, int times)
{
    __shared__ float part[32], rest_of[32], plain_of[32];
    const size_t row = (size_t)blockIdx.x * times;
    const float l = level[blockIdx.x], share = 1.0f / times;
    // The plain sum beside it answers where something is infinite.
    float sum = 0.0f, rest = 0.0f, plain = 0.0f;
#pragma unroll 4
    for (int t = threadIdx.x; t < times; t += 1024) {
        const float d = actual[t] - forecast[row + t];
        slope[row + t] = slopeof(d, l, share);
        const float v = lossof(d, l);
        add(sum, rest, v);
        plain += v;
    }
    for (int s = 16; s > 0; s >>= 1) {
        const float other = __shfl_down_sync(0xffffffffu, sum, s), left = __shfl_down_sync(0xffffffffu, rest, s);
        add(sum, rest, other);
        add(sum, rest, -left);
        plain += __shfl_down_sync(0xffffffffu, plain, s);
    }
    if (threadIdx.x % 32 == 0) {
        part[threadIdx.x / 32] = sum;
        rest_of[threadIdx.x / 32] = rest;
        plain_of[threadIdx.x / 32] = plain;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 1; i < 32; i++) {
            add(sum, rest, part[i]);
            add(sum, rest, -rest_of[i]);
            plain += plain_of[i];
        }
        loss[blockIdx.x] = (isfinite(sum) ? sum : plain) * share;
    }
}
