#include <cstdio>
#include <cuda_runtime.h>

// What a call is worth that may be used after some years, without interest.
__device__ float worth(float ratio, float spot, float strike, float root, float vol) {
    float spread = __fmul_rn(vol, root), d = __fadd_rn(__fdiv_rn(ratio, spread), __fmul_rn(0.5f, spread));
    float up = erfcf(__fmul_rn(-0.70710678f, d)), down = erfcf(__fmul_rn(-0.70710678f, __fsub_rn(d, spread)));
    return __fmul_rn(0.5f, __fsub_rn(__fmul_rn(spot, up), __fmul_rn(strike, down)));
}

// The volatility that explains an option's price lies between a thousandth and four; halving tells where.
__global__ void explained(const float* price, const float* strike, float* vol, int n, float spot, float years) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float low = 0.001f, high = 4.f;
    for (int step = 0; step < 40; ++step) {
        float middle = 0.5f * (low + high);
        if (worth(logf(__fdiv_rn(spot, strike[i])), spot, strike[i], sqrtf(years), middle) < price[i])
            low = middle;
        else
            high = middle;
    }
    vol[i] = 0.5f * (low + high);
}

extern "C" void implied(const float* price, const float* strike, float* vol, int n, float spot, float years) {
    explained<<<(n + 127) / 128, 128>>>(price, strike, vol, n, spot, years);
}
