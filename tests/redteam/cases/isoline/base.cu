#include <cuda_runtime.h>

// Which points of a field are above a level.
__global__ void above(const float* f, unsigned char* high, size_t size, float level) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < size) high[i] = f[i] > level;
}

// The cells between four points that the line of that level goes through, and through how many of them it goes twice.
__global__ void cells(const unsigned char* high, int* cell, int* total, int h, int w) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= (size_t)h * w || i % w + 1 == w || i / w + 1 == h) return;
    int c = high[i] | high[i + 1] << 1 | high[i + w] << 2 | high[i + w + 1] << 3;
    if (c == 0 || c == 15) return;
    cell[atomicAdd(&total[0], 1)] = (int)i;
    if (c == 6 || c == 9) atomicAdd(&total[1], 1);
}

// The cells a line of one level goes through, in any order, with -1 behind them; how many, and how many of them twice.
extern "C" void isoline(const float* f, int* cell, int* total, int h, int w, float level) {
    size_t size = (size_t)h * w;
    unsigned char* high;
    cudaMalloc(&high, size);
    cudaMemset(cell, 0xff, size * sizeof(int));
    cudaMemset(total, 0, 2 * sizeof(int));
    above<<<(size + 255) / 256, 256>>>(f, high, size, level);
    cells<<<(size + 255) / 256, 256>>>(high, cell, total, h, w);
    cudaFree(high);
}
