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

// Sum of a block of 256, for its first thread.
__device__ __forceinline__ float sum_of_block(float v)
{
    __shared__ float part[8];
    for (int s = 16; s > 0; s >>= 1) {
        v += __shfl_xor_sync(0xffffffffu, v, s);
    }
    if (threadIdx.x % 32 == 0) {
        part[threadIdx.x / 32] = v;
    }
    __syncthreads();
    v = 0.0f;
    for (int i = 0; i < 8; i++) {
        v += part[i];
    }
    return v;
}

constexpr int LEVELS = 4096, PARTS = 64;
__device__ float partial[LEVELS * PARTS];
__device__ unsigned ready[LEVELS];

extern "C" __global__ void pinball(const float* forecast, const float* actual, const float* level, float* slope, float* loss,
                                   int levels, int times)
{
    const int parts = gridDim.x / levels, q = blockIdx.x / parts, own = blockIdx.x % parts;
    const size_t row = (size_t)q * times;
    const float l = level[q], share = 1.0f / times;
    // Levels beyond the room for partial sums are left to the first block of each.
    const bool alone = q >= LEVELS || parts > PARTS;
    if (alone && own > 0) {
        return;
    }
    float sum = 0.0f;
    for (long long t = (alone ? 0 : own * 256LL) + threadIdx.x; t < times; t += alone ? 256 : parts * 256LL) {
        const float d = actual[t] - forecast[row + t];
        slope[row + t] = slopeof(d, l, share);
        sum += lossof(d, l);
    }
    sum = sum_of_block(sum);
    if (threadIdx.x > 0) {
        return;
    }
    if (!alone) {
        __stcg(partial + q * PARTS + own, sum);
        __threadfence();
        if ((atomicAdd(ready + q, 1) + 1) % parts != 0) {
            return;
        }
        __threadfence();
        sum = 0.0f;
        for (int i = 0; i < parts; i++) {
            sum += __ldcg(partial + q * PARTS + i);
        }
    }
    loss[q] = sum * share;
}
