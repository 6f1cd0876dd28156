#include <cuda_runtime.h>

// The nearest of the points that fall on a pixel gives it its colour, the first of equally near ones.
__global__ void clear(unsigned long long* nearest, size_t size) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < size) nearest[i] = ~0ull;
}

__global__ void points(const int* px, const int* py, const unsigned* depth, unsigned long long* nearest, int n, int h,
                       int w) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || (unsigned)px[i] >= (unsigned)w || (unsigned)py[i] >= (unsigned)h) return;
    // Half of each word is enough for how near it is and which it is; the other half stays empty.
    unsigned* at = (unsigned*)(nearest + (size_t)py[i] * w + px[i]);
    atomicMin(at, depth[i] << 16 | (unsigned)i);
}

__global__ void colours(const unsigned long long* nearest, const unsigned* colour, unsigned* out, size_t size) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= size) return;
    unsigned v = (unsigned)nearest[i];
    out[i] = v == ~0u ? 0u : colour[v & 0xffffu];
}

extern "C" void splat(const int* px, const int* py, const unsigned* depth, const unsigned* colour, unsigned* out, int n,
                      int h, int w) {
    size_t size = (size_t)h * w;
    unsigned long long* nearest;
    cudaMalloc(&nearest, size * sizeof(unsigned long long));
    clear<<<(size + 255) / 256, 256>>>(nearest, size);
    points<<<(n + 255) / 256, 256>>>(px, py, depth, nearest, n, h, w);
    colours<<<(size + 255) / 256, 256>>>(nearest, colour, out, size);
    cudaFree(nearest);
}
