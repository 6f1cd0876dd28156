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

// One launch: 32 frames to a block, eight warps over the filters. The blocks wait for the loudest of all
// before they shape what they have just written, which is in the cache still.
__global__ void __launch_bounds__(256) features(const float* __restrict__ power, const float* __restrict__ filter, float* out, unsigned* shared,
                                                int bins, int frames, int mels) {
    __shared__ float best[8];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int f = blockIdx.x * 32 + lane;
    float mine = -INFINITY;
    for (int mel = warp; mel < mels && f < frames; mel += 8) {
        float sum = 0.0f;
        for (int b = 0; b < bins; ++b) sum += filter[(size_t)mel * bins + b] * power[(size_t)b * frames + f];
        float value = log10f(fmaxf(sum, 1e-10f));
        out[(size_t)mel * frames + f] = value;
        mine = fmaxf(mine, value);
    }
    __syncwarp();
    for (int d = 16; d > 0; d /= 2) mine = fmaxf(mine, __shfl_xor_sync(0xffffffffu, mine, d));
    if (lane == 0) best[warp] = mine;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int k = 1; k < 8; ++k) mine = fmaxf(mine, best[k]);
        atomicMax(&shared[0], ordered(mine));
        __threadfence();
        atomicAdd(&shared[1], 1u);
        while (*(volatile unsigned*)&shared[1] < gridDim.x) {
        }
        __threadfence();
    }
    __syncthreads();
    float floor = unordered(*(volatile unsigned*)&shared[0]) - 8.0f;
    for (int mel = warp; mel < mels && f < frames; mel += 8) {
        size_t at = (size_t)mel * frames + f;
        out[at] = (fmaxf(out[at], floor) + 4.0f) * 0.25f;
    }
}

extern "C" void logmel(const float* power, const float* filter, float* out, int bins, int frames, int mels) {
    unsigned* shared;
    cudaMallocAsync(&shared, 2 * sizeof(unsigned), 0);
    cudaMemsetAsync(shared, 0, 2 * sizeof(unsigned), 0);
    features<<<(frames + 31) / 32, 256>>>(power, filter, out, shared, bins, frames, mels);
    cudaFreeAsync(shared, 0);
}
