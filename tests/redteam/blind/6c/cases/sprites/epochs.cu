// Sprites of 16 by 16 texels are painted over each other, in order; texels of colour 0 are transparent.
// cover[i] is the number of pixels of the screen that show sprite i in the end.
#include <cuda_runtime.h>
#include <cstdint>

__global__ void stamp(const int* x, const int* y, const int* tile, const uint8_t* atlas, unsigned* owner, int w,
                      int h, unsigned epoch) {
    int i = blockIdx.x, dx = threadIdx.x % 16, dy = threadIdx.x / 16;
    int px = x[i] + dx, py = y[i] + dy;
    if (px < 0 || px >= w || py < 0 || py >= h) return;
    unsigned c = atlas[(size_t)tile[i] * 256 + threadIdx.x];
    if (c == 0) return;
    unsigned* place = &owner[(size_t)py * w + px];
    unsigned key = epoch << 24 | ((unsigned)i + 1);
    atomicMax(place, key);
}

__global__ void resolve(const int* x, const int* y, const int* tile, const uint8_t* atlas, unsigned* owner, uint8_t* screen, int* cover, int w, int h, unsigned epoch) {
    size_t p = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= (size_t)w * h) return;
    unsigned key = owner[p];
    if (!(key >> 24 == epoch && (key & 0xffffffu))) {
        screen[p] = 0;
        return;
    }
    int i = (int)(key & 0xffffffu) - 1;
    screen[p] = atlas[(size_t)tile[i] * 256 + (p / w - y[i]) * 16 + (p % w - x[i])];
    atomicAdd(&cover[i], 1);
}

void sprites(const int* x, const int* y, const int* tile, const uint8_t* atlas, uint8_t* screen, int* cover,
             int count, int w, int h) {
    cudaMemsetAsync(cover, 0, (size_t)count * sizeof(int));
    size_t pixels = (size_t)w * h;
    static unsigned* owner = nullptr;
    static size_t room = 0;
    static unsigned epoch = 0;
    epoch = (epoch + 1) & 255;
    if (pixels > room) {
        cudaFree(owner);
        cudaMalloc(&owner, pixels * sizeof(unsigned));
        cudaMemsetAsync(owner, 0, pixels * sizeof(unsigned));
        room = pixels;
        epoch = 1;
    }
    stamp<<<count, 256>>>(x, y, tile, atlas, owner, w, h, epoch);
    resolve<<<(unsigned)((pixels + 255) / 256), 256>>>(x, y, tile, atlas, owner, screen, cover, w, h, epoch);
}
