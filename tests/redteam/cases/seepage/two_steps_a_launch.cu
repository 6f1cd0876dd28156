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

// Two steps in one launch: a tile with a border of two cells, the first step also on a border of one.
__global__ void seep_twice(const float* from, const float* rate, float* to, int h, int w)
{
    __shared__ float one[BY + 4][BX + 4], two[BY + 2][BX + 2];
    const int x0 = blockIdx.x * BX, y0 = blockIdx.y * BY, t = threadIdx.y * BX + threadIdx.x;
    for (int i = t; i < (BY + 4) * (BX + 4); i += BX * BY) {
        const int gx = x0 - 2 + i % (BX + 4), gy = y0 - 2 + i / (BX + 4);
        const bool in = gx >= 0 && gx < w && gy >= 0 && gy < h;
        one[i / (BX + 4)][i % (BX + 4)] = in ? from[(size_t)gy * w + gx] : 0.0f;
    }
    __syncthreads();
    for (int i = t; i < (BY + 2) * (BX + 2); i += BX * BY) {
        const int tx = i % (BX + 2), ty = i / (BX + 2);
        const int gx = x0 - 1 + tx, gy = y0 - 1 + ty;
        if (gx < 0 || gx >= w || gy < 0 || gy >= h) continue;
        const float c = one[ty + 1][tx + 1];
        const float l = gx > 0 ? one[ty + 1][tx] : c, r = gx < w - 1 ? one[ty + 1][tx + 2] : c;
        const float u = gy > 0 ? one[ty][tx + 1] : c, d = gy < h - 1 ? one[ty + 2][tx + 1] : c;
        two[ty][tx] = relaxed(c, l, r, u, d, rate[(size_t)gy * w + gx]);
    }
    __syncthreads();
    const int gx = x0 + threadIdx.x, gy = y0 + threadIdx.y;
    if (gx >= w || gy >= h) return;
    const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    const float c = two[ty][tx];
    const float l = gx > 0 ? two[ty][tx - 1] : c, r = gx < w - 1 ? two[ty][tx + 1] : c;
    const float u = gy > 0 ? two[ty - 1][tx] : c, d = gy < h - 1 ? two[ty + 1][tx] : c;
    to[(size_t)gy * w + gx] = relaxed(c, l, r, u, d, rate[(size_t)gy * w + gx]);
}

extern "C" void seepage(const float* level, const float* rate, float* out, int h, int w, int steps)
{
    static float* spare = nullptr;
    static size_t room = 0;
    const size_t need = (size_t)h * w;
    if (need > room) {
        cudaFree(spare);
        cudaMalloc(&spare, need * sizeof(float));
        room = need;
    }
    const dim3 block(BX, BY), grid((w + BX - 1) / BX, (h + BY - 1) / BY);
    // an odd step goes first, alone; the pairs alternate so that the last lands in out
    const float* from = level;
    int pairs = steps / 2;
    if (steps % 2) {
        float* to = pairs % 2 ? spare : out;
        seep<<<grid, block>>>(from, rate, to, h, w);
        from = to;
    }
    for (; pairs > 0; --pairs) {
        float* to = (pairs - 1) % 2 ? spare : out;
        seep_twice<<<grid, block>>>(from, rate, to, h, w);
        from = to;
    }
}
