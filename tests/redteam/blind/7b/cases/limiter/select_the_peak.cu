// A limiter that looks ahead: the gain falls before a peak comes and recovers slowly behind it.
#include <cuda_runtime.h>

__global__ void limiter_target(const float* x, float* gain, int channels, int n, int look, float threshold) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= (long long)channels * n) return;
    int at = (int)(i % n);
    int ahead = min(look, n - 1 - at);
    float peak = 0.0f;
    for (int k = 0; k <= ahead; k++) {
        float v = fabsf(x[i + k]);
        peak = peak > v ? peak : v;
    }
    gain[i] = peak > threshold ? threshold / peak : 1.0f;
}

__global__ void limiter_release(float* gain, float* least, int channels, int n, float release) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= channels) return;
    float* row = gain + (size_t)c * n;
    float g = 1.0f, low = 1.0f;
    for (int i = 0; i < n; i++) {
        g = fminf(row[i], 1.0f - (1.0f - g) * release);
        row[i] = g;
        low = fminf(low, g);
    }
    least[c] = low;
}

__global__ void limiter_apply(const float* x, const float* gain, float* y, int channels, int n) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < (long long)channels * n) y[i] = x[i] * gain[i];
}

void limiter(const float* x, float* y, float* least, int channels, int n, int look, float threshold, float release) {
    float* gain;
    size_t total = (size_t)channels * n;
    cudaMalloc(&gain, total * sizeof(float));
    unsigned blocks = (unsigned)((total + 255) / 256);
    limiter_target<<<blocks, 256>>>(x, gain, channels, n, look, threshold);
    limiter_release<<<(channels + 31) / 32, 32>>>(gain, least, channels, n, release);
    limiter_apply<<<blocks, 256>>>(x, gain, y, channels, n);
    cudaFree(gain);
}
