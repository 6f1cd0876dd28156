#include <cuda_pipeline.h>

__device__ void fetch(float (*a)[68], float (*b)[64], const float* x, const float* w, int c0, int o0, int p0, int cin,
                      int cout, int pix) {
    for (int e = threadIdx.x; e < 4096; e += 256) {
        int o = o0 + e / 64, c = c0 + e % 64;
        if (o < cout && c < cin) __pipeline_memcpy_async(&a[e % 64][e / 64], &w[(size_t)o * cin + c], 4);
        else a[e % 64][e / 64] = 0.f;
        int p = p0 + e % 64;
        c = c0 + e / 64;
        if (p < pix && c < cin) __pipeline_memcpy_async(&b[e / 64][e % 64], &x[(size_t)c * pix + p], 4);
        else b[e / 64][e % 64] = 0.f;
    }
    __pipeline_commit();
}

// A layer of one pixel's width: each channel of the result is a sum over the channels of its pixel, and no less than zero.
// Sixteen results a thread; the next 64 channels are on their way while these are added.
__global__ void pointwise(const float* x, const float* w, const float* bias, float* y, int cin, int cout, int pix) {
    extern __shared__ float room[];
    float (*a)[64][68] = (float (*)[64][68])room;
    float (*b)[64][64] = (float (*)[64][64])(room + 2 * 64 * 68);
    int o0 = blockIdx.y * 64, p0 = blockIdx.x * 64, i = threadIdx.x / 16, j = threadIdx.x % 16;
    float sum[4][4] = {};
    fetch(a[0], b[0], x, w, 0, o0, p0, cin, cout, pix);
    for (int c0 = 0, s = 0; c0 < cin; c0 += 64, s ^= 1) {
        if (c0 + 64 < cin) fetch(a[s ^ 1], b[s ^ 1], x, w, c0 + 64, o0, p0, cin, cout, pix);
        if (c0 + 64 < cin) __pipeline_wait_prior(1);
        else __pipeline_wait_prior(0);
        __syncthreads();
#pragma unroll 4
        for (int c = 0; c < 64; ++c)
            for (int u = 0; u < 4; ++u)
                for (int v = 0; v < 4; ++v) sum[u][v] += a[s][c][i * 4 + u] * b[s][c][j + 16 * v];
        __syncthreads();
    }
    for (int u = 0; u < 4; ++u)
        for (int v = 0; v < 4; ++v) {
            int o = o0 + i * 4 + u, p = p0 + j + 16 * v;
            if (o < cout && p < pix) y[(size_t)o * pix + p] = fmaxf(sum[u][v] + bias[o], 0.f);
        }
}
