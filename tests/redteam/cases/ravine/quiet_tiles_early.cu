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

// moved[s] has a flag a tile: did anything in it change in step s?
__global__ void step(const int* from, int* to, unsigned char* moved, int s, int width, int height)
{
    int tiles = gridDim.x * gridDim.y, tile = blockIdx.y * gridDim.x + blockIdx.x;
    unsigned char* now = moved + s % 2 * tiles;
    const unsigned char* before = moved + (s + 1) % 2 * tiles;
    // A tile that stood still in the step before, like the
    // four around it, stands still again, and `to` holds what it was before that step: the same heights.
    if (s >= 1) {
        bool busy = before[tile];
        busy = busy || (blockIdx.x > 0 && before[tile - 1]);
        busy = busy || (blockIdx.x + 1 < gridDim.x && before[tile + 1]);
        busy = busy || (blockIdx.y > 0 && before[tile - gridDim.x]);
        busy = busy || (blockIdx.y + 1 < gridDim.y && before[tile + gridDim.x]);
        if (!busy) {
            if (threadIdx.x == 0 && threadIdx.y == 0)
                now[tile] = 0;
            return;
        }
    }
    int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y;
    bool inside = x < width && y < height;
    bool change = false;
    if (inside) {
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
        int next = slump(mine, low);
        to[at] = next;
        change = next != mine;
    }
    int any = __syncthreads_or(change);
    if (threadIdx.x == 0 && threadIdx.y == 0)
        now[tile] = any;
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
    static unsigned char* moved = nullptr;
    static size_t flags = 0;
    size_t tiles = (size_t)grid.x * grid.y;
    if (2 * tiles > flags) {
        cudaFree(moved);
        cudaMalloc(&moved, 2 * tiles);
        flags = 2 * tiles;
    }
    const int* from = bed;
    for (int s = 0; s < steps; s++) {
        int* to = (steps - 1 - s) % 2 ? other : out;
        step<<<grid, block>>>(from, to, moved, s, width, height);
        from = to;
    }
}
