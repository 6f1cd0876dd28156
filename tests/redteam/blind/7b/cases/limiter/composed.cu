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

// A block for each channel. What a piece does to the gain g before it is min(a, 1 - (1 - g) * r); such pieces compose.
__global__ void limiter_release(float* gain, float* least, int n, float release) {
    __shared__ float a[256], r[256];
    float* row = gain + (size_t)blockIdx.x * n;
    int t = threadIdx.x;
    int each = (n + 255) / 256, from = min(n, t * each), to = min(n, from + each);
    float most = INFINITY, left = 1.0f;
    for (int i = from; i < to; i++) {
        most = i == from ? row[i] : fminf(row[i], 1.0f - (1.0f - most) * release);
        left *= release;
    }
    a[t] = most;
    r[t] = left;
    __syncthreads();
    for (int d = 1; d < 256; d <<= 1) {
        float before = 0.0f, kept = 1.0f;
        if (t >= d) {
            before = a[t - d];
            kept = r[t - d];
        }
        __syncthreads();
        if (t >= d && from < to) {
            a[t] = fminf(a[t], 1.0f - (1.0f - before) * r[t]);
            r[t] *= kept;
        }
        __syncthreads();
    }
    float g = t ? fminf(a[t - 1], 1.0f) : 1.0f, low = 1.0f;   // a gain of one stays one
    for (int i = from; i < to; i++) {
        g = fminf(row[i], 1.0f - (1.0f - g) * release);
        row[i] = g;
        low = fminf(low, g);
    }
    __syncthreads();
    a[t] = low;
    __syncthreads();
    for (int d = 128; d; d >>= 1) {
        if (t < d) a[t] = fminf(a[t], a[t + d]);
        __syncthreads();
    }
    if (t == 0) least[blockIdx.x] = a[0];
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
    limiter_release<<<channels, 256>>>(gain, least, n, release);
    limiter_apply<<<blocks, 256>>>(x, gain, y, channels, n);
    cudaFree(gain);
}
