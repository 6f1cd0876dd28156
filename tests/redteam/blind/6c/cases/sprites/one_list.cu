// Sprites of 16 by 16 texels are painted over each other, in order; texels of colour 0 are transparent.
// cover[i] is the number of pixels of the screen that show sprite i in the end.
#include <cuda_runtime.h>
#include <cstdint>

__global__ void compose(const int* x, const int* y, const int* tile, const uint8_t* atlas, uint8_t* screen,
                        int* cover, int count, int w, int h) {
    __shared__ int list[1024];
    __shared__ int per_warp[8];
    int left = blockIdx.x * 16, top = blockIdx.y * 16;
    int px = left + threadIdx.x, py = top + threadIdx.y;
    int t = threadIdx.y * 16 + threadIdx.x, lane = t % 32, warp = t / 32;
    bool inside = px < w && py < h;
    int colour = 0, owner = -1;
    int have = 0;
    for (int end = count; end > 0 && have < 1024; end -= 256) {
        int i = end - 1 - t;
        bool near = false;
        if (i >= 0) {
            int dx = x[i] - left, dy = y[i] - top;
            near = dx > -16 && dx < 16 && dy > -16 && dy < 16;
        }
        unsigned votes = __ballot_sync(0xffffffffu, near);
        if (lane == 0) per_warp[warp] = __popc(votes);
        __syncthreads();
        int at = have, total = 0;
        for (int k = 0; k < 8; ++k) {
            if (k < warp) at += per_warp[k];
            total += per_warp[k];
        }
        at += __popc(votes & ((1u << lane) - 1));
        if (near && at < 1024) list[at] = i;
        have += total;
        __syncthreads();
    }
    have = min(have, 1024);
    if (inside) {
        for (int k = 0; k < have; ++k) {
            int s = list[k];
            int dx = px - x[s], dy = py - y[s];
            if (dx < 0 || dx >= 16 || dy < 0 || dy >= 16) continue;
            int c = atlas[(size_t)tile[s] * 256 + dy * 16 + dx];
            if (c) {
                colour = c;
                owner = s;
                break;
            }
        }
    }
    if (!inside) return;
    screen[(size_t)py * w + px] = (uint8_t)colour;
    if (owner >= 0) atomicAdd(&cover[owner], 1);
}

void sprites(const int* x, const int* y, const int* tile, const uint8_t* atlas, uint8_t* screen, int* cover,
             int count, int w, int h) {
    cudaMemsetAsync(cover, 0, (size_t)count * sizeof(int));
    compose<<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>(x, y, tile, atlas, screen, cover, count, w, h);
}
