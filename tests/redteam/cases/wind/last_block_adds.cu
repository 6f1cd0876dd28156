#include <cuda_fp16.h>
#include <cuda_runtime.h>

// What a turbine yields at a speed: nothing below 3 and from 25 on, its most from 12 on.
__device__ double yields(float v) {
    if (v < 3.f || v >= 25.f) return 0.;
    if (v >= 12.f) return 2000.;
    double part = (v - 3.) / 9.;
    return 2000. * part * part * part;
}

// Each block's sum and counts, and how many blocks are ready.
__device__ double sum_of[264];
__device__ unsigned hours_of[264][32], ready;

// Energy and hours at once. The block that is ready last adds up what all have left, and leaves the count at nought.
__global__ void both(const __half* speed, double* energy, unsigned* hours, int n) {
    __shared__ double part[8];
    __shared__ unsigned own[8][32];
    __shared__ bool last;
    int w = threadIdx.x / 32, lane = threadIdx.x % 32;
    own[w][lane] = 0;
    __syncwarp();
    double s = 0.;
    for (size_t i = blockIdx.x * (size_t)256 + threadIdx.x; i < n; i += gridDim.x * (size_t)256) {
        float v = 30.f * __half2float(speed[i]);
        s += yields(v);
        atomicAdd(&own[w][min(31, max(0, (int)v))], 1u);
    }
    for (int k = 16; k; k /= 2) s += __shfl_down_sync(0xffffffffu, s, k);
    if (lane == 0) part[w] = s;
    __syncthreads();
    if (w == 0) {
        unsigned all = 0;
        for (int k = 0; k < 8; ++k) all += own[k][lane];
        hours_of[blockIdx.x][lane] = all;
        if (lane == 0) {
            s = 0.;
            for (int k = 0; k < 8; ++k) s += part[k];
            sum_of[blockIdx.x] = s;
        }
        __threadfence();
        __syncwarp();
        if (lane == 0) last = atomicInc(&ready, gridDim.x - 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (!last || w) return;
    unsigned all = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) all += *(volatile unsigned*)&hours_of[b][lane];
    hours[lane] = all;
    s = 0.;
    for (unsigned b = lane; b < gridDim.x; b += 32) s += *(volatile double*)&sum_of[b];
    for (int k = 16; k; k /= 2) s += __shfl_down_sync(0xffffffffu, s, k);
    if (lane == 0) *energy = s;
}

// What a turbine would have yielded, and how often the wind blew how fast.
extern "C" void wind(const __half* speed, double* energy, unsigned* hours, int n) {
    both<<<min((n - 1) / 2048 + 1, 264), 256>>>(speed, energy, hours, n);
}
