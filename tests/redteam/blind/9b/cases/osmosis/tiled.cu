#include <cuda_runtime.h>
#include <cstdint>
#include <utility>

// A step of exchange between the cells of a tank: an eighth of each difference (towards zero) flows over
// each of the four sides, except to and from walls.
__global__ void tiled(const uint16_t* from, const uint8_t* wall, uint16_t* to, int width, int height, int across)
{
    __shared__ int tile[10][34];                   // -1: wall or outside
    int x0 = (int)(blockIdx.x % across) * 32, y0 = (int)(blockIdx.x / across) * 8;
    for (int k = threadIdx.x; k < 340; k += 256) {
        int x = x0 + k % 34 - 1, y = y0 + k / 34 - 1;
        int v = -1;
        if (x >= 0 && x < width && y >= 0 && y < height) {
            size_t i = (size_t)y * width + x;
            if (!wall[i]) v = from[i];
        }
        tile[k / 34][k % 34] = v;
    }
    __syncthreads();
    int tx = threadIdx.x % 32, ty = threadIdx.x / 32, x = x0 + tx, y = y0 + ty;
    if (x >= width || y >= height) return;
    size_t i = (size_t)y * width + x;
    int own = tile[ty + 1][tx + 1];
    if (own < 0) {
        to[i] = from[i];
        return;
    }
    int l = tile[ty + 1][tx], r = tile[ty + 1][tx + 2], u = tile[ty][tx + 1], d = tile[ty + 2][tx + 1], gain = 0;
    if (l >= 0) gain += (l - own) / 8;
    if (r >= 0) gain += (r - own) / 8;
    if (u >= 0) gain += (u - own) / 8;
    if (d >= 0) gain += (d - own) / 8;
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
    int across = (width + 31) / 32;
    const uint16_t* from = start;
    for (int s = 0; s < steps; s++) {
        uint16_t* to = (steps - s) % 2 ? level : spare;    // the last step writes to level
        tiled<<<across * ((height + 7) / 8), 256>>>(from, wall, to, width, height, across);
        from = to;
    }
    cudaFreeAsync(spare, 0);
}
