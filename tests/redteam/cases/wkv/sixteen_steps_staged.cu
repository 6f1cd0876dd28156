#include <cuda_pipeline.h>

#define STAGE 16
__device__ float stepped(float kt, float vt, float w, float u, float& a, float& b, float& top) {
    float now = u + kt, most = fmaxf(top, now);
    float old = expf(top - most), fresh = expf(now - most);
    float out = (old * a + fresh * vt) / (old * b + fresh);
    float faded = top - w;
    most = fmaxf(faded, kt);
    old = expf(faded - most), fresh = expf(kt - most);
    a = old * a + fresh * vt;
    b = old * b + fresh;
    top = most;
    return out;
}

// Attention as a recurrence: y is the mean of the values so far, weighted by the exponentials of their keys,
// which fade by `fade` a step; the newest one has a `bonus`. The largest exponent so far is kept outside.
__global__ void wkv(const float* fade, const float* bonus, const float* k, const float* v, float* y, int batch,
                    int steps, int channels) {
    // Sixteen steps of the block's channels are copied while the sixteen before are worked on. A thread
    // copies what it reads itself, so that no barrier is needed.
    __shared__ float keys[2][STAGE][64];
    __shared__ float values[2][STAGE][64];
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i >= batch * channels) return;
    int c = i % channels, t = threadIdx.x;
    size_t start = (size_t)(i / channels) * steps * channels + c;
    float a = 0.f, b = 0.f, top = -1e38f, w = fabsf(fade[c]), u = bonus[c];
    for (int from = -STAGE, turn = 1; from < steps; from += STAGE, turn ^= 1) {
        for (int s = 0; s < STAGE && from + STAGE + s < steps; ++s) {
            size_t at = start + (size_t)(from + STAGE + s) * channels;
            __pipeline_memcpy_async(&keys[turn ^ 1][s][t], k + at, 4);
            __pipeline_memcpy_async(&values[turn ^ 1][s][t], v + at, 4);
        }
        __pipeline_commit();
        __pipeline_wait_prior(1);
        for (int s = max(0, -from); s < STAGE && from + s < steps; ++s)
            y[start + (size_t)(from + s) * channels] =
                stepped(keys[turn][s][t], values[turn][s][t], w, u, a, b, top);
    }
}
