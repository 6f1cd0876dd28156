#include <cuda_runtime.h>
#include <math.h>
// The bits of a float as a whole number that is in the same order, and back again.
__device__ int ordered(int bits) {
    return bits < 0 ? bits ^ 0x7fffffff : bits;
}
__global__ void maxima(const float* x, float* part, int n) {
    __shared__ int s[8];
    float m = -INFINITY;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) m = fmaxf(m, x[i]);
    // Whole numbers have a maximum of a warp in one instruction.
    int w = __reduce_max_sync(0xffffffffu, ordered(__float_as_int(m)));
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = w;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int k = 1; k < 8; ++k) w = max(w, s[k]);
        part[blockIdx.x] = __int_as_float(ordered(w));
    }
}
__global__ void largest(float* part, int parts) {
    float m = -INFINITY;
    for (int i = threadIdx.x; i < parts; i += 32) m = fmaxf(m, part[i]);
    int w = __reduce_max_sync(0xffffffffu, ordered(__float_as_int(m)));
    if (threadIdx.x == 0) part[0] = __int_as_float(ordered(w));
}
__global__ void below(const float* x, const float* part, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] - part[0];
}
// How far each number is below the largest of all.
extern "C" void belowmax(const float* x, float* y, int n) {
    float* part;
    cudaMalloc(&part, 256 * sizeof(float));
    maxima<<<256, 256>>>(x, part, n);
    largest<<<1, 32>>>(part, 256);
    below<<<(n + 255) / 256, 256>>>(x, part, y, n);
    cudaFree(part);
}
