#include <cuda_runtime.h>

__device__ unsigned ordered(float v) {
    unsigned b = __float_as_uint(v);
    return b >> 31 ? ~b : b | 0x80000000u;
}

__device__ float back(unsigned b) { return __uint_as_float(b >> 31 ? b & 0x7fffffffu : ~b); }

__global__ void limits(const float* x, unsigned* ends, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned v = ordered(x[i]);
    atomicMin(&ends[0], v);
    atomicMax(&ends[1], v);
}

__global__ void scale(const float* x, const unsigned* ends, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float low = back(ends[0]), high = back(ends[1]);
    y[i] = high > low ? (x[i] - low) / (high - low) : 0.f;
}

// Numbers from 0, the lowest, to 1, the highest.
extern "C" void minmaxscale(const float* x, float* y, int n) {
    unsigned* ends;
    cudaMalloc(&ends, 2 * sizeof(unsigned));
    cudaMemset(ends, 0xff, sizeof(unsigned));
    cudaMemset(ends + 1, 0, sizeof(unsigned));
    limits<<<(n + 255) / 256, 256>>>(x, ends, n);
    scale<<<(n + 255) / 256, 256>>>(x, ends, y, n);
    cudaFree(ends);
}
