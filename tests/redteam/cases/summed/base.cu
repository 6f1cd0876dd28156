#include <cuda_runtime.h>

// The sum of all pixels above and to the left of each, itself among them.
__global__ void across(const unsigned char* in, unsigned* out, int h, int w) {
    int y = blockIdx.x * blockDim.x + threadIdx.x;
    if (y >= h) return;
    unsigned sum = 0;
    for (int x = 0; x < w; ++x) out[(size_t)y * w + x] = sum += in[(size_t)y * w + x];
}

__global__ void down(unsigned* out, int h, int w) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= w) return;
    unsigned sum = 0;
    for (int y = 0; y < h; ++y) out[(size_t)y * w + x] = sum += out[(size_t)y * w + x];
}

extern "C" void summed(const unsigned char* in, unsigned* out, int h, int w) {
    across<<<(h + 63) / 64, 64>>>(in, out, h, w);
    down<<<(w + 63) / 64, 64>>>(out, h, w);
}
