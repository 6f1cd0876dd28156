// Maxwell's equations in two dimensions on Yee's grid (TM), with walls that conduct. The magnetic fields move by half
// a step, then the electric one inside the walls. coat is the share of the step in each cell.
#include <cuda_runtime.h>

#define HALF 0.5f

__global__ void magnetic(const float* ez, float* hx, float* hy, int h, int w)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    size_t i = (size_t)y * w + x;
    if (y + 1 < h) hx[i] -= HALF * (ez[i + w] - ez[i]);
    if (x + 1 < w) hy[i] += HALF * (ez[i + 1] - ez[i]);
}

__global__ void electric(float* ez, const float* hx, const float* hy, const float* coat, int h, int w)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x + 1 >= w || y + 1 >= h) return;
    size_t i = (size_t)y * w + x;
    ez[i] += HALF * coat[i] * ((hy[i] - hy[i - 1]) - (hx[i] - hx[i - w]));
}

extern "C" void yee(float* ez, float* hx, float* hy, const float* coat, int h, int w, int steps, cudaStream_t stream)
{
    dim3 block(32, 8);
    dim3 grid((w + 31) / 32, (h + 7) / 8);
    for (int s = 0; s < steps; ++s) {
        magnetic<<<grid, block, 0, stream>>>(ez, hx, hy, h, w);
        electric<<<grid, block, 0, stream>>>(ez, hx, hy, coat, h, w);
    }
}
