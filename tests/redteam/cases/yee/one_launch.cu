// Maxwell's equations in two dimensions on Yee's grid (TM), with walls that conduct. The magnetic fields move by half
// a step, then the electric one inside the walls. coat is the share of the step in each cell.
// One launch moves all steps: as many blocks as the device holds at once walk over the grid and meet at a barrier of
// their own between the half steps.
#include <cuda_runtime.h>

#define HALF 0.5f

__device__ unsigned arrived;

__device__ void meet(unsigned& goal)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        goal += gridDim.x;
        atomicAdd(&arrived, 1u);
        while ((int)(*(volatile unsigned*)&arrived - goal) < 0) {}
    }
    __syncthreads();
}

__global__ void __launch_bounds__(256) march(float* ez, float* hx, float* hy, const float* coat, int h, int w,
                                             int steps)
{
    unsigned goal = 0;
    long long cells = (long long)h * w;
    long long first = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    long long stride = (long long)gridDim.x * blockDim.x;
    for (int s = 0; s < steps; ++s) {
        for (long long i = first; i < cells; i += stride) {
            int y = (int)(i / w), x = (int)(i - (long long)y * w);
            float e = ez[i];
            if (y + 1 < h) hx[i] -= HALF * (ez[i + w] - e);
            if (x + 1 < w) hy[i] += HALF * (ez[i + 1] - e);
        }
        meet(goal);
        for (long long i = first; i < cells; i += stride) {
            int y = (int)(i / w), x = (int)(i - (long long)y * w);
            if (x < 1 || y < 1 || x + 1 >= w || y + 1 >= h) continue;
            ez[i] += HALF * coat[i] * ((hy[i] - hy[i - 1]) - (hx[i] - hx[i - w]));
        }
        meet(goal);
    }
}

extern "C" void yee(float* ez, float* hx, float* hy, const float* coat, int h, int w, int steps, cudaStream_t stream)
{
    static int blocks = 0;
    if (!blocks) {
        int each, device, count;
        cudaGetDevice(&device);
        cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, march, 256, 0);
        blocks = each * count;
    }
    static void* counter = nullptr;
    if (!counter) cudaGetSymbolAddress(&counter, arrived);
    cudaMemsetAsync(counter, 0, sizeof(unsigned), stream);
    void* arguments[] = {&ez, &hx, &hy, &coat, &h, &w, &steps};
    cudaLaunchCooperativeKernel((void*)march, dim3(blocks), dim3(256), arguments, 0, stream);
}
