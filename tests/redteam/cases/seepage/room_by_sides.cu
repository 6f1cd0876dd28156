// Seepage through a porous sheet: `steps` relaxation steps, each cell moves towards the mean of its four neighbours
// by its own rate (held to 0..1). Beyond the border the border's own value counts.
#include <cuda_runtime.h>

#define BX 32
#define BY 8

__device__ __forceinline__ float relaxed(float c, float l, float r, float u, float d, float rate)
{
    const float k = fminf(fmaxf(rate, 0.0f), 1.0f);
    return fmaf(k, 0.25f * ((l + r) + (u + d)) - c, c);
}

__global__ void seep(const float* from, const float* rate, float* to, int h, int w)
{
    const int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y;
    if (x >= w || y >= h) return;
    const size_t at = (size_t)y * w + x;
    const float c = from[at];
    const float l = x > 0 ? from[at - 1] : c, r = x < w - 1 ? from[at + 1] : c;
    const float u = y > 0 ? from[at - w] : c, d = y < h - 1 ? from[at + w] : c;
    to[at] = relaxed(c, l, r, u, d, rate[at]);
}

extern "C" void seepage(const float* level, const float* rate, float* out, int h, int w, int steps)
{
    static float* spare = nullptr;
    static int most_h = 0, most_w = 0;
    if (h > most_h || w > most_w) {   // a taller or a wider sheet than any so far
        cudaFree(spare);
        cudaMalloc(&spare, (size_t)h * w * sizeof(float));
        if (h > most_h) most_h = h;
        if (w > most_w) most_w = w;
    }
    const dim3 block(BX, BY), grid((w + BX - 1) / BX, (h + BY - 1) / BY);
    const float* from = level;
    for (int s = 0; s < steps; ++s) {
        float* to = (steps - 1 - s) % 2 ? spare : out;   // the last step lands in out
        seep<<<grid, block>>>(from, rate, to, h, w);
        from = to;
    }
}
