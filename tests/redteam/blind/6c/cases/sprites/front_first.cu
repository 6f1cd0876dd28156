// Sprites of 16 by 16 texels are painted over each other, in order; texels of colour 0 are transparent.
// cover[i] is the number of pixels of the screen that show sprite i in the end.
#include <cuda_runtime.h>
#include <cstdint>

__global__ void compose(const int* x, const int* y, const int* tile, const uint8_t* atlas, uint8_t* screen,
                        int* cover, int count, int w, int h) {
    int px = blockIdx.x * 16 + threadIdx.x;
    int py = blockIdx.y * 16 + threadIdx.y;
    if (px >= w || py >= h) return;
    int colour = 0, owner = -1;
    for (int i = count - 1; i >= 0; --i) {
        int dx = px - x[i], dy = py - y[i];
        if (dx < 0 || dx >= 16 || dy < 0 || dy >= 16) continue;
        int c = atlas[(size_t)tile[i] * 256 + dy * 16 + dx];
        if (c) {
            colour = c;
            owner = i;
            break;
        }
    }
    screen[(size_t)py * w + px] = (uint8_t)colour;
    if (owner >= 0) atomicAdd(&cover[owner], 1);
}

void sprites(const int* x, const int* y, const int* tile, const uint8_t* atlas, uint8_t* screen, int* cover,
             int count, int w, int h) {
    cudaMemsetAsync(cover, 0, (size_t)count * sizeof(int));
    compose<<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>(x, y, tile, atlas, screen, cover, count, w, h);
}
