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

__device__ int side(int own, int other) { return other != 0xffff ? (other - own) / 8 : 0; }

// Two steps at once: a tile of 32 x 16 with two cells around it; 0xffff stands for walls and the outside.
__global__ void twice(const uint16_t* from, const uint8_t* wall, uint16_t* to, int width, int height, int across)
{
    __shared__ uint16_t first[20][36], second[18][34];
    int x0 = (int)(blockIdx.x % across) * 32, y0 = (int)(blockIdx.x / across) * 16;
    for (int k = threadIdx.x; k < 720; k += 256) {
        int x = x0 + k % 36 - 2, y = y0 + k / 36 - 2;
        int v = 0xffff;
        if (x >= 0 && x < width && y >= 0 && y < height) {
            size_t i = (size_t)y * width + x;
            if (!wall[i]) v = from[i];
        }
        first[k / 36][k % 36] = (uint16_t)v;
    }
    __syncthreads();
    for (int k = threadIdx.x; k < 612; k += 256) {
        int a = k / 34, b = k % 34, own = first[a + 1][b + 1], v = own;
        if (own != 0xffff)
            v = own + side(own, first[a + 1][b]) + side(own, first[a + 1][b + 2]) + side(own, first[a][b + 1])
                + side(own, first[a + 2][b + 1]);
        second[a][b] = (uint16_t)v;
    }
    __syncthreads();
    for (int k = threadIdx.x; k < 512; k += 256) {
        int a = k / 32, b = k % 32, x = x0 + b, y = y0 + a;
        if (x >= width || y >= height) continue;
        size_t i = (size_t)y * width + x;
        int own = second[a + 1][b + 1];
        if (own == 0xffff) to[i] = from[i];
        else
            to[i] = (uint16_t)(own + side(own, second[a + 1][b]) + side(own, second[a + 1][b + 2])
                               + side(own, second[a][b + 1]) + side(own, second[a + 2][b + 1]));
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
    int across = (width + 31) / 32;
    const uint16_t* from = start;
    int rounds = (steps + 1) / 2;
    for (int s = 0; s < rounds; s++) {
        uint16_t* to = (rounds - s) % 2 ? level : spare;   // the last round writes to level
        if (s == 0 && steps % 2) {
            flow<<<(unsigned)((cells + 255) / 256), 256>>>(from, wall, to, width, height);
        } else {
            twice<<<across * ((height + 15) / 16), 256>>>(from, wall, to, width, height, across);
        }
        from = to;
    }
    cudaFreeAsync(spare, 0);
}
