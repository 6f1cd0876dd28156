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

// The gain rises but where it is held down, so that the least is what the loudest sample asks for.
__global__ void limiter_release(const float* x, const float* gain, float* y, float* least, int channels, int n,
                                float threshold, float release) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= channels) return;
    size_t row = (size_t)c * n;
    float g = 1.0f, loudest = 0.0f;
    for (int i = 0; i < n; i++) {
        float v = x[row + i];
        g = fminf(gain[row + i], 1.0f - (1.0f - g) * release);
        y[row + i] = v * g;
        loudest = fmaxf(loudest, fabsf(v));
    }
    least[c] = loudest > threshold ? threshold / loudest : 1.0f;
}

void limiter(const float* x, float* y, float* least, int channels, int n, int look, float threshold, float release) {
    float* gain;
    size_t total = (size_t)channels * n;
    cudaMalloc(&gain, total * sizeof(float));
    unsigned blocks = (unsigned)((total + 255) / 256);
    limiter_target<<<blocks, 256>>>(x, gain, channels, n, look, threshold);
    limiter_release<<<(channels + 31) / 32, 32>>>(x, gain, y, least, channels, n, threshold, release);
    cudaFree(gain);
}
