// Log-mel features: filter banks over power spectra, logarithms, no more than eight decades below the
// loudest of the recording.
#include <cuda_runtime.h>

__global__ void bank(const float* power, const float* filter, float* out, int bins, int frames) {
    int f = blockIdx.x * blockDim.x + threadIdx.x;
    int mel = blockIdx.y;
    if (f >= frames) return;
    float sum = 0.0f;
    for (int b = 0; b < bins; ++b) sum += filter[(size_t)mel * bins + b] * power[(size_t)b * frames + f];
    out[(size_t)mel * frames + f] = log10f(fmaxf(sum, 1e-10f));
}

__global__ void loudest(const float* out, float* top, size_t count) {
    __shared__ float best[1024];
    float mine = -INFINITY;
    for (size_t i = threadIdx.x; i < count; i += 1024) mine = fmaxf(mine, out[i]);
    best[threadIdx.x] = mine;
    __syncthreads();
    for (int half = 512; half > 0; half /= 2) {
        if (threadIdx.x < half) best[threadIdx.x] = fmaxf(best[threadIdx.x], best[threadIdx.x + half]);
        __syncthreads();
    }
    if (threadIdx.x == 0) *top = best[0];
}

__global__ void shaped(float* out, const float* top, size_t count) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = (fmaxf(out[i], *top - 8.0f) + 4.0f) / 4.0f;
}

extern "C" void logmel(const float* power, const float* filter, float* out, int bins, int frames, int mels) {
    size_t count = (size_t)mels * frames;
    float* top;
    cudaMallocAsync(&top, sizeof(float), 0);
    bank<<<dim3((frames + 127) / 128, mels), 128>>>(power, filter, out, bins, frames);
    loudest<<<1, 1024>>>(out, top, count);
    shaped<<<(unsigned)((count + 255) / 256), 256>>>(out, top, count);
    cudaFreeAsync(top, 0);
}
