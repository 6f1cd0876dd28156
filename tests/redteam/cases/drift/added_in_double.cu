#include <cuda_runtime.h>

// Every block adds its sums to four doubles; the last one hands them out and leaves zeros behind.
__device__ double running[4];
__device__ unsigned ticket;

extern "C" __global__ void drift(const float* velocity, const float* mass, float* totals, int n) {
    __shared__ double block[4];
    if (threadIdx.x < 4) {
        block[threadIdx.x] = 0.0;
    }
    __syncthreads();
    double v[4] = {0.0, 0.0, 0.0, 0.0};
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n;
         i += (long long)gridDim.x * blockDim.x) {
        double m = mass[i];
        double x = velocity[3 * i];
        double y = velocity[3 * i + 1];
        double z = velocity[3 * i + 2];
        v[0] += m * x;
        v[1] += m * y;
        v[2] += m * z;
        v[3] += 0.5 * m * (x * x + y * y + z * z);
    }
    for (int c = 0; c < 4; c++) {
        for (int d = 16; d > 0; d /= 2) {
            v[c] += __shfl_xor_sync(0xffffffffu, v[c], d);
        }
        if ((threadIdx.x & 31) == 0) {
            atomicAdd(&block[c], v[c]);
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int c = 0; c < 4; c++) {
            atomicAdd(&running[c], block[c]);
        }
        __threadfence();
        if (atomicAdd(&ticket, 1u) == gridDim.x - 1) {
            __threadfence();
            for (int c = 0; c < 4; c++) {
                unsigned long long bits = atomicExch((unsigned long long*)&running[c], 0ull);
                totals[c] = (float)__longlong_as_double((long long)bits);
            }
            ticket = 0;
            __threadfence();
        }
    }
}
