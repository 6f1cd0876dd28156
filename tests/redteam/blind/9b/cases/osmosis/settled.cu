#include <cuda_runtime.h>
#include <cstdint>
#include <utility>

// A step of exchange between the cells of a tank: an eighth of each difference (towards zero) flows over
// each of the four sides, except to and from walls.
// moved[s] says whether anything moved in step s; once a step moved nothing both buffers are equal.
__global__ void flow(const uint16_t* from, const uint8_t* wall, uint16_t* to, int width, int height, int* moved, int s)
{
    if (s > 1 && moved[s - 1] == 0) return;
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    int gain = 0, any = 0;
    if (i < (long long)width * height) {
        int x = (int)(i % width), y = (int)(i / width);
        int own = from[i];
        if (!wall[i]) {
            int a = x > 0 && !wall[i - 1] ? (from[i - 1] - own) / 8 : 0;
            int b = x < width - 1 && !wall[i + 1] ? (from[i + 1] - own) / 8 : 0;
            int c = y > 0 && !wall[i - width] ? (from[i - width] - own) / 8 : 0;
            int d = y < height - 1 && !wall[i + width] ? (from[i + width] - own) / 8 : 0;
            gain = a + b + c + d;
            any = gain != 0;
        }
        to[i] = (uint16_t)(own + gain);
    }
    if (__syncthreads_or(any) && threadIdx.x == 0) moved[s] = 1;
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
    int* moved;
    cudaMallocAsync(&moved, steps * sizeof(int), 0);
    cudaMemsetAsync(moved, 0, steps * sizeof(int), 0);
    const uint16_t* from = start;
    for (int s = 0; s < steps; s++) {
        uint16_t* to = (steps - s) % 2 ? level : spare;    // the last step writes to level
        flow<<<(unsigned)((cells + 255) / 256), 256>>>(from, wall, to, width, height, moved, s);
        from = to;
    }
    cudaFreeAsync(moved, 0);
    cudaFreeAsync(spare, 0);
}
