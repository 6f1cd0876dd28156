#include <cuda_runtime.h>
#include <cstdint>
#include <utility>

// A step of exchange between the cells of a tank: an eighth of each difference (towards zero) flows over
// each of the four sides, except to and from walls.
__global__ void flow(const uint16_t* from, const uint8_t* wall, uint16_t* to, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;     // no divisions: a row of blocks a row of cells
    if (x >= width) return;
    size_t i = (size_t)y * width + x;
    int own = from[i], gain = 0;
    if (!wall[i]) {
        if (x > 0 && !wall[i - 1]) gain += (from[i - 1] - own) / 8;
        if (x < width - 1 && !wall[i + 1]) gain += (from[i + 1] - own) / 8;
        if (y > 0 && !wall[i - width]) gain += (from[i - width] - own) / 8;
        if (y < height - 1 && !wall[i + width]) gain += (from[i + width] - own) / 8;
    }
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
    const uint16_t* from = start;
    for (int s = 0; s < steps; s++) {
        uint16_t* to = (steps - s) % 2 ? level : spare;    // the last step writes to level
        flow<<<dim3((width + 127) / 128, height), 128>>>(from, wall, to, width, height);
        from = to;
    }
    cudaFreeAsync(spare, 0);
}
