// Slumping slopes on a grid of heights: in every step a cell that stands more than TALUS above its lowest neighbour
// (left, right, above, below) loses a quarter of the difference, all cells at once. `steps` steps, result in `out`.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

constexpr int TALUS = 8;
constexpr int BX = 32, BY = 8;

__device__ __forceinline__ int slump(int height, int lowest)
{
    int drop = height - lowest;
    return drop > TALUS ? height - (drop >> 2) : height;
}

// All steps in one launch; cells are dealt over the grid, which meets after every step.
__global__ void allsteps(const int* bed, int* out, int* other, int width, int height, int steps)
{
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    const int* from = bed;
    for (int s = 0; s < steps; s++) {
        int* to = (steps - 1 - s) % 2 ? other : out;
        size_t cells = (size_t)width * height;
        for (size_t at = blockIdx.x * (size_t)blockDim.x + threadIdx.x; at < cells; at += (size_t)gridDim.x * blockDim.x) {
            int x = at % width, y = at / width;
            int mine = from[at], low = mine;
            if (x > 0)
                low = min(low, from[at - 1]);
            if (x + 1 < width)
                low = min(low, from[at + 1]);
            if (y > 0)
                low = min(low, from[at - width]);
            if (y + 1 < height)
                low = min(low, from[at + width]);
            to[at] = slump(mine, low);
        }
        grid.sync();
        from = to;
    }
}

extern "C" void ravine(const int* bed, int* out, int width, int height, int steps)
{
    static int* other = nullptr;
    static size_t room = 0;
    size_t cells = (size_t)width * height;
    if (cells > room) {
        cudaFree(other);
        cudaMalloc(&other, cells * sizeof(int));
        room = cells;
    }
    if (steps == 0)
        cudaMemcpyAsync(out, bed, cells * sizeof(int), cudaMemcpyDeviceToDevice, 0);
    static int most = 0;
    if (!most) {
        int device, processors, blocks;
        cudaGetDevice(&device);
        cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, allsteps, BX * BY, 0);
        most = processors * blocks;
    }
    size_t wanted = (cells + BX * BY - 1) / (BX * BY);
    unsigned blocks = wanted < (size_t)most ? (unsigned)wanted : (unsigned)most;
    void* arguments[] = {&bed, &out, &other, &width, &height, &steps};
    cudaLaunchCooperativeKernel(reinterpret_cast<void*>(allsteps), dim3(blocks), dim3(BX * BY), arguments, 0, 0);
}
