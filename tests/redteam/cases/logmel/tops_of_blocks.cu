// Log-mel features: filter banks over power spectra, logarithms, no more than eight decades below the
// loudest of the recording.
#include <cuda_runtime.h>

// A frame to a thread and eight filters at once, so that a spectrum is read an eighth as often.
__global__ void __launch_bounds__(128) bank(const float* __restrict__ power, const float* __restrict__ filter, float* __restrict__ out,
                                            float* tops, int bins, int frames, int mels) {
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
        tops[blockIdx.y * gridDim.x + blockIdx.x] = mine;
    }
}

// Every block finds the loudest among the blocks' own: they are few and in the cache.
__global__ void __launch_bounds__(256) shaped(float* out, const float* tops, int many, size_t count) {
    __shared__ float best[8];
    float mine = -INFINITY;
    for (int i = threadIdx.x; i < many; i += 256) mine = fmaxf(mine, tops[i]);
    for (int d = 16; d > 0; d /= 2) mine = fmaxf(mine, __shfl_xor_sync(0xffffffffu, mine, d));
    if (threadIdx.x % 32 == 0) best[threadIdx.x / 32] = mine;
    __syncthreads();
    for (int k = 0; k < 8; ++k) mine = fmaxf(mine, best[k]);
    float floor = mine - 8.0f;
    for (size_t i = (size_t)blockIdx.x * 256 + threadIdx.x; i < count; i += (size_t)gridDim.x * 256)
        out[i] = (fmaxf(out[i], floor) + 4.0f) * 0.25f;
}

extern "C" void logmel(const float* power, const float* filter, float* out, int bins, int frames, int mels) {
    size_t count = (size_t)mels * frames;
    dim3 grid((frames + 127) / 128, (mels + 7) / 8);
    int many = grid.x * grid.y;
    float* tops;
    cudaMallocAsync(&tops, sizeof(float) * many, 0);
    bank<<<grid, 128>>>(power, filter, out, tops, bins, frames, mels);
    size_t blocks = (count + 1023) / 1024;
    shaped<<<blocks < 1024 ? (unsigned)blocks : 1024u, 256>>>(out, tops, many, count);
    cudaFreeAsync(tops, 0);
}
