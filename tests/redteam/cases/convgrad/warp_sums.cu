constexpr int TAPS = 7;

struct Sums {
    float tap[TAPS];
};

__device__ __forceinline__ float across(float v) {
#pragma unroll
    for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffffu, v, o);
    return v;
}

__global__ void convgrad(const float* __restrict__ x, const float* __restrict__ dy, float* dw, int n) {
    Sums mine = {};
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const float g = dy[i];
#pragma unroll
        for (int t = 0; t < TAPS; ++t) {
            const int from = i + t - TAPS / 2;
            mine.tap[t] += (unsigned)from < (unsigned)n ? g * x[from] : 0.0f;
        }
    }
#pragma unroll
    for (int t = 0; t < TAPS; ++t) {
        const float all = across(mine.tap[t]);
        if ((threadIdx.x & 31) == 0) atomicAdd(dw + t, all);
    }
}
