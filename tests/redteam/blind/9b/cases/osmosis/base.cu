#include <cuda_runtime.h>
#include <cstdint>
#include <utility>

// A step of exchange between the cells of a tank: an eighth of each difference (towards zero) flows over
// each of the four sides, except to and from walls.
__global__ void flow(const uint16_t* from, const uint8_t* wall, uint16_t* to, int width, int height)
{
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= (long long)width * height) return;
    int x = (int)(i % width), y = (int)(i / width);
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
    size_t cells = (size_t)width * height;
    uint16_t* spare;
    cudaMallocAsync(&spare, cells * sizeof(uint16_t), 0);
    cudaMemcpyAsync(level, start, cells * sizeof(uint16_t), cudaMemcpyDeviceToDevice, 0);
    uint16_t *from = level, *to = spare;
    for (int s = 0; s < steps; s++) {
        flow<<<(unsigned)((cells + 255) / 256), 256>>>(from, wall, to, width, height);
        std::swap(from, to);
    }
    if (from != level) cudaMemcpyAsync(level, from, cells * sizeof(uint16_t), cudaMemcpyDeviceToDevice, 0);
    cudaFreeAsync(spare, 0);
}
