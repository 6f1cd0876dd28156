#include <cuda_runtime.h>
#include <math.h>
#define POINTS 256

struct Curve {
    float at[POINTS];
};

// Tones of a picture bent by a curve whose points the host works out.
__global__ void bend(const float* x, Curve curve, float* y, int n) {
    __shared__ float at[POINTS];
    for (int k = threadIdx.x; k < POINTS; k += 256) at[k] = curve.at[k];
    __syncthreads();
    for (int i = blockIdx.x * 1024 + threadIdx.x, e = 0; e < 4 && i < n; i += 256, ++e) {
        float p = fminf(fmaxf(x[i], 0.f), 1.f) * (POINTS - 1);
        int k = min((int)p, POINTS - 2);
        y[i] = at[k] + (p - k) * (at[k + 1] - at[k]);
    }
}

extern "C" void curve(const float* x, float* y, int n, float gamma, float gain) {
    Curve curve;
    for (int k = 0; k < POINTS; ++k) curve.at[k] = gain * powf(k / (POINTS - 1.f), gamma);
    bend<<<(n + 1023) / 1024, 256>>>(x, curve, y, n);
}
