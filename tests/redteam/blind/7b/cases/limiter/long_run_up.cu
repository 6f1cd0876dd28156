// A limiter that looks ahead: the gain falls before a peak comes and recovers slowly behind it.
#include <cuda_runtime.h>

__global__ void limiter_target(const float* x, float* gain, int channels, int n, int look, float threshold) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= (long long)channels * n) return;
    int at = (int)(i % n);
    int ahead = min(look, n - 1 - at);
    float peak = 0.0f;
    for (int k = 0; k <= ahead; k++) peak = fmaxf(peak, fabsf(x[i + k]));
    gain[i] = peak > threshold ? threshold / peak : 1.0f;
}

// A thread for each 1024 samples; it begins 512 earlier, behind which nothing is left of what the gain was there.
__global__ void limiter_release(const float* aim, float* gain, float* least, int channels, int n, int pieces,
                                float release) {
    long long p = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (p >= (long long)channels * pieces) return;
    int c = (int)(p / pieces);
    int from = (int)(p % pieces) * 1024, to = min(n, from + 1024);
    const float* in = aim + (size_t)c * n;
    float* row = gain + (size_t)c * n;
    float g = 1.0f, low = 1.0f;
    for (int i = max(0, from - 512); i < from; i++) g = fminf(in[i], 1.0f - (1.0f - g) * release);
    for (int i = from; i < to; i++) {
        g = fminf(in[i], 1.0f - (1.0f - g) * release);
        row[i] = g;
        low = fminf(low, g);
    }
    atomicMin((int*)&least[c], __float_as_int(low));
}

__global__ void limiter_apply(const float* x, const float* gain, float* y, int channels, int n) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < (long long)channels * n) y[i] = x[i] * gain[i];
}

void limiter(const float* x, float* y, float* least, int channels, int n, int look, float threshold, float release) {
    float *gain, *aim;
    size_t total = (size_t)channels * n;
    cudaMalloc(&gain, total * sizeof(float));
    cudaMalloc(&aim, total * sizeof(float));
    unsigned blocks = (unsigned)((total + 255) / 256);
    limiter_target<<<blocks, 256>>>(x, aim, channels, n, look, threshold);
    int pieces = (n + 1023) / 1024;
    cudaMemsetAsync(least, 0x7f, channels * sizeof(float));   // more than any gain
    limiter_release<<<(unsigned)(((size_t)channels * pieces + 63) / 64), 64>>>(aim, gain, least, channels, n, pieces,
                                                                             release);
    limiter_apply<<<blocks, 256>>>(x, gain, y, channels, n);
    cudaFree(gain);
    cudaFree(aim);
}
