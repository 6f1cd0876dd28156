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

// A filter is a triangle: it is zero before its foot and behind it.
__global__ void feet(const float* filter, int* span, int bins, int mels) {
    int mel = blockIdx.x * blockDim.x + threadIdx.x;
    if (mel >= mels) return;
    int b = 0;
    while (b < bins && filter[(size_t)mel * bins + b] == 0.0f) ++b;
    span[2 * mel] = b;
    while (b < bins && filter[(size_t)mel * bins + b] != 0.0f) ++b;
    span[2 * mel + 1] = b;
}

// A frame to a thread and eight filters at once, so that a spectrum is read an eighth as often.
__global__ void __launch_bounds__(128) bank(const float* __restrict__ power, const float* __restrict__ filter, float* __restrict__ out,
                                            const int* span, unsigned* top, int bins, int frames, int mels) {
    __shared__ float best[4];
    int f = blockIdx.x * 128 + threadIdx.x;
    int first = blockIdx.y * 8, here = min(8, mels - first);
    float sum[8] = {};
    int low[8], high[8], from = bins, to = 0;
#pragma unroll
    for (int k = 0; k < 8; ++k) {
        low[k] = k < here ? span[2 * (first + k)] : bins;
        high[k] = k < here ? span[2 * (first + k) + 1] : 0;
        from = min(from, low[k]);
        to = max(to, high[k]);
    }
    if (f < frames) {
        for (int b = from; b < to; ++b) {
            float p = power[(size_t)b * frames + f];
#pragma unroll
            for (int k = 0; k < 8; ++k)
                if (b >= low[k] && b < high[k]) sum[k] += filter[(size_t)(first + k) * bins + b] * p;
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
        atomicMax(top, ordered(mine));
    }
}

__global__ void shaped(float* out, const unsigned* top, size_t count) {
    float floor = unordered(*top) - 8.0f;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x)
        out[i] = (fmaxf(out[i], floor) + 4.0f) * 0.25f;
}

extern "C" void logmel(const float* power, const float* filter, float* out, int bins, int frames, int mels) {
    size_t count = (size_t)mels * frames;
    unsigned* top;
    int* span;
    cudaMallocAsync(&span, 2 * sizeof(int) * mels, 0);
    feet<<<(mels + 31) / 32, 32>>>(filter, span, bins, mels);
    cudaMallocAsync(&top, sizeof(unsigned), 0);
    cudaMemsetAsync(top, 0, sizeof(unsigned), 0);
    bank<<<dim3((frames + 127) / 128, (mels + 7) / 8), 128>>>(power, filter, out, span, top, bins, frames, mels);
    size_t blocks = (count + 255) / 256;
    shaped<<<blocks < 4096 ? (unsigned)blocks : 4096u, 256>>>(out, top, count);
    cudaFreeAsync(top, 0);
    cudaFreeAsync(span, 0);
}
