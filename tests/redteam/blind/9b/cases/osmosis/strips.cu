#include <cuda_runtime.h>
#include <cstdint>
#include <utility>

// A step of exchange between the cells of a tank: an eighth of each difference (towards zero) flows over
// each of the four sides, except to and from walls.
// A thread walks down eight rows of a column and keeps three levels in registers (-1: wall or outside).
__global__ void strips(const uint16_t* from, const uint8_t* wall, uint16_t* to, int width, int height, int across)
{
    int x = (int)(blockIdx.x % across) * 128 + threadIdx.x, y0 = (int)(blockIdx.x / across) * 8;
    if (x >= width) return;
    int stop = min(height, y0 + 8);
    size_t i = (size_t)y0 * width + x;
    int above = y0 > 0 && !wall[i - width] ? from[i - width] : -1;
    int own = wall[i] ? -1 : from[i];
    for (int y = y0; y < stop; y++, i += width) {
        int below = y + 1 < height && !wall[i + width] ? from[i + width] : -1;
        if (own >= 0) {
            int gain = 0;
            if (above >= 0) gain += (above - own) / 8;
            if (below >= 0) gain += (below - own) / 8;
            if (x > 0 && !wall[i - 1]) gain += (from[i - 1] - own) / 8;
            if (x + 1 < width && !wall[i + 1]) gain += (from[i + 1] - own) / 8;
            to[i] = (uint16_t)(own + gain);
        } else {
            to[i] = from[i];
        }
        above = own;
        own = below;
    }
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
    int across = (width + 127) / 128;
    const uint16_t* from = start;
    for (int s = 0; s < steps; s++) {
        uint16_t* to = (steps - s) % 2 ? level : spare;    // the last step writes to level
        strips<<<across * ((height + 7) / 8), 128>>>(from, wall, to, width, height, across);
        from = to;
    }
    cudaFreeAsync(spare, 0);
}
