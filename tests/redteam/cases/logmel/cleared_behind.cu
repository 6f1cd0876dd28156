// Log-mel features: filter banks over power spectra, logarithms, no more than eight decades below the
// loudest of the recording.
#include <cuda_runtime.h>

// Unsigned numbers in the order of the floats.
__device__ __forceinline__ unsigned ordered(float x) {
    unsigned bits = __float_as_uint(x);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

__device__ __forceinline__ float unordered(unsigned x) {
    return __uint_as_float(x & 0x80000000u ? x & 0x7fffffffu : ~x);
}

__device__ unsigned top;

// A frame to a thread and eight filters at once, so that a spectrum is read an eighth as often.
__global__ void __launch_bounds__(128) bank(const float* __restrict__ power, const float* __restrict__ filter, float* __restrict__ out,
                                            int bins, int frames, int mels) {
    __shared__ float best[4];
    int f = blockIdx.x * 128 + threadIdx.x;
    int first = blockIdx.y * 8, here = min(8, mels - first);
    float sum[8] = {};
    if (f < frames) {
        for (int b = 0; b < bins; ++b) {
            float p = power[(size_t)b * frames + f];
#pragma unroll
            for (int k = 0; k < 8; ++k)
                if (k < here) sum[k] += filter[(size_t)(first + k) * bins + b] * p;
        }
    }
    float mine = -INFINITY;
#pragma unroll
    for (int k = 0; k < 8; ++k) {
        if (f < frames && k < here) {
            float value = log10f(fmaxf(sum[k], 1e-10f));
            out[(size_t)(first + k) * frames + f] = value;
            mine = fmaxf(mine, value);
        }
    }
    for (int d = 16; d > 0; d /= 2) mine = fmaxf(mine, __shfl_xor_sync(0xffffffffu, mine, d));
    if (threadIdx.x % 32 == 0) best[threadIdx.x / 32] = mine;
    __syncthreads();
    if (threadIdx.x == 0) {
        mine = fmaxf(fmaxf(best[0], best[1]), fmaxf(best[2], best[3]));
        atomicMax(&top, ordered(mine));
    }
}

// The last block of the grid leaves the place of the loudest clear for the next call.
__global__ void shaped(float* out, size_t count) {
    float floor = unordered(*(volatile unsigned*)&top) - 8.0f;
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = (fmaxf(out[i], floor) + 4.0f) * 0.25f;
    __syncthreads();
    if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) top = 0;
}

extern "C" void logmel(const float* power, const float* filter, float* out, int bins, int frames, int mels) {
    size_t count = (size_t)mels * frames;
    bank<<<dim3((frames + 127) / 128, (mels + 7) / 8), 128>>>(power, filter, out, bins, frames, mels);
    shaped<<<(unsigned)((count + 255) / 256), 256>>>(out, count);
}
