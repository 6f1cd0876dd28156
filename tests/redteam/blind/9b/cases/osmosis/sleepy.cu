#include <cuda_runtime.h>
#include <cstdint>
#include <utility>

// A step of exchange between the cells of a tank: an eighth of each difference (towards zero) flows over
// each of the four sides, except to and from walls.
// Tiles of 256 cells in a row that did not change in the last step are asleep: only their levels are handed on.
__global__ void flow(const uint16_t* from, const uint8_t* wall, uint16_t* to, int width, int height, uint8_t* asleep)
{
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    bool inside = i < (long long)width * height;
    int own = inside ? from[i] : 0, gain = 0;
    if (asleep[blockIdx.x]) {
        if (inside) to[i] = (uint16_t)own;
        return;
    }
    if (inside) {
        int x = (int)(i % width), y = (int)(i / width);
        if (!wall[i]) {
            if (x > 0 && !wall[i - 1]) gain += (from[i - 1] - own) / 8;
            if (x < width - 1 && !wall[i + 1]) gain += (from[i + 1] - own) / 8;
            if (y > 0 && !wall[i - width]) gain += (from[i - width] - own) / 8;
            if (y < height - 1 && !wall[i + width]) gain += (from[i + width] - own) / 8;
        }
        to[i] = (uint16_t)(own + gain);
    }
    if (!__syncthreads_or(gain != 0) && threadIdx.x == 0) asleep[blockIdx.x] = 1;
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
    uint8_t* asleep;
    cudaMallocAsync(&asleep, blocks, 0);
    cudaMemsetAsync(asleep, 0, blocks, 0);
    const uint16_t* from = start;
    for (int s = 0; s < steps; s++) {
        uint16_t* to = (steps - s) % 2 ? level : spare;    // the last step writes to level
        flow<<<blocks, 256>>>(from, wall, to, width, height, asleep);
        from = to;
    }
    cudaFreeAsync(asleep, 0);
    cudaFreeAsync(spare, 0);
}
