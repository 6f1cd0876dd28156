// Slumping slopes on a grid of heights: in every step a cell that stands more than TALUS above its lowest neighbour
// (left, right, above, below) loses a quarter of the difference, all cells at once. `steps` steps, result in `out`.
#include <cuda_runtime.h>

constexpr int TALUS = 8;
constexpr int BX = 32, BY = 8;

__device__ __forceinline__ int slump(int height, int lowest)
{
    int drop = height - lowest;
    return drop > TALUS ? height - (drop >> 2) : height;
}

__global__ void step(const int* from, int* to, int width, int height)
{
    int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y;
    if (x >= width || y >= height)
        return;
    size_t at = (size_t)y * width + x;
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
    dim3 block(BX, BY), grid((width + BX - 1) / BX, (height + BY - 1) / BY);
    if (steps == 0)
        cudaMemcpyAsync(out, bed, cells * sizeof(int), cudaMemcpyDeviceToDevice, 0);
    const int* from = bed;
    for (int s = 0; s < steps; s++) {
        int* to = (steps - 1 - s) % 2 ? other : out;
        step<<<grid, block>>>(from, to, width, height);
        from = to;
    }
}
