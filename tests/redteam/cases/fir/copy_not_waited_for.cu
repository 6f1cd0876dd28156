#include <cuda_pipeline.h>

// A filter over a line of numbers, 256 results a block.
__global__ void fir(const float* x, const float* h, float* y, int n, int taps) {
    __shared__ float tile[2][256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    float s = 0.f;
    // A piece of 256 taps wants 511 numbers: two tiles, of which the second is the next one's first.
    auto fetch = [&](int piece) {
        int at = blockIdx.x * 256 + piece * 256 + t;
        float* to = &tile[piece % 2][t];
        if (at < n + taps) __pipeline_memcpy_async(to, x + at, sizeof(float));
        else *to = 0.f;
        __pipeline_commit();
    };
    fetch(0);
    int pieces = (taps + 255) / 256;
    for (int p = 0; p < pieces; ++p) {
        fetch(p + 1);
        __pipeline_wait_prior(1);
        __syncthreads();
        int last = min(256, taps - p * 256);
        for (int j = 0; j < last; ++j) {
            int at = t + j;
            s += h[p * 256 + j] * (at < 256 ? tile[p % 2][at] : tile[(p + 1) % 2][at - 256]);
        }
        __syncthreads();
    }
    if (i < n) y[i] = s;
}
