// Seepage through a porous sheet: `steps` relaxation steps, each cell moves towards the mean of its four neighbours
// by its own rate (held to 0..1). Beyond the border the border's own value counts.
#include <cuda_runtime.h>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

#define BX 32
#define BY 8

__device__ __forceinline__ float relaxed(float c, float l, float r, float u, float d, float rate)
{
    const float k = fminf(fmaxf(rate, 0.0f), 1.0f);
    return fmaf(k, 0.25f * ((l + r) + (u + d)) - c, c);
}

// All steps in one cooperative launch; the grid is what fits on the device at once.
__global__ void __launch_bounds__(256) seep_all(const float* level, const float* __restrict__ rate, float* spare, float* out,
                         int h, int w, int steps)
{
    cg::grid_group grid = cg::this_grid();
    const float* from = level;
    const size_t cells = (size_t)h * w;
    for (int s = 0; s < steps; ++s) {
        float* to = (steps - 1 - s) % 2 ? spare : out;
        for (size_t at = blockIdx.x * (size_t)blockDim.x + threadIdx.x; at < cells; at += (size_t)gridDim.x * blockDim.x) {
            const int y = (int)(at / w), x = (int)(at % w);
            const float c = *(from + at);
            const float l = x > 0 ? *(from + at - 1) : c, r = x < w - 1 ? *(from + at + 1) : c;
            const float u = y > 0 ? *(from + at - w) : c, d = y < h - 1 ? *(from + at + w) : c;
            to[at] = relaxed(c, l, r, u, d, __ldg(rate + at));
        }
        grid.sync();
        from = to;
    }
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
    static int resident = 0;
    if (!resident) {
        int device, processors, each;
        cudaGetDevice(&device);
        cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, seep_all, BX * BY, 0);
        resident = processors * each;
    }
    const size_t wanted = (need + BX * BY - 1) / (BX * BY);
    const int blocks = wanted < (size_t)resident ? (int)wanted : resident;
    float* other = spare;
    void* args[] = { &level, &rate, &other, &out, &h, &w, &steps };
    cudaLaunchCooperativeKernel((void*)seep_all, dim3(blocks), dim3(BX * BY), args, 0, 0);
}
