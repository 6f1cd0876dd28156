#include <cuda_runtime.h>

// The nearest of the points that fall on a pixel gives it its colour, the first of equally near ones.
__global__ void clear(unsigned long long* nearest, size_t size) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < size) nearest[i] = ~0ull;
}

__global__ void points(const int* px, const int* py, const unsigned* depth, unsigned long long* nearest, int n, int h,
                       int w) {
    size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += step) {
        int x = px[i], y = py[i];
        if ((unsigned)x >= (unsigned)w || (unsigned)y >= (unsigned)h) continue;
        unsigned long long* at = nearest + (size_t)y * w + x;
        unsigned long long mine = (unsigned long long)depth[i] << 32 | (unsigned)i;
        // What is there only becomes less: who is behind it now stays behind.
        if (mine < *(volatile unsigned long long*)at) atomicMin(at, mine);
    }
}

__global__ void colours(const unsigned long long* nearest, const unsigned* colour, unsigned* out, size_t size) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= size) return;
    unsigned long long v = nearest[i];
    out[i] = v == ~0ull ? 0u : colour[(unsigned)v];
}

extern "C" void splat(const int* px, const int* py, const unsigned* depth, const unsigned* colour, unsigned* out, int n,
                      int h, int w) {
    size_t size = (size_t)h * w;
    unsigned long long* nearest;
    cudaMalloc(&nearest, size * sizeof(unsigned long long));
    clear<<<(size + 255) / 256, 256>>>(nearest, size);
    points<<<1056, 256>>>(px, py, depth, nearest, n, h, w);
    colours<<<(size + 255) / 256, 256>>>(nearest, colour, out, size);
    cudaFree(nearest);
}
