// A limiter that looks ahead: the gain falls before a peak comes and recovers slowly behind it.
#include <cuda_runtime.h>

// Maxima from each place to the end of its piece of look + 1, and from the beginning of the piece to each place.
__global__ void limiter_pieces(const float* x, float* onward, float* back, int channels, int n, int look, int pieces) {
    long long p = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (p >= (long long)channels * pieces) return;
    size_t row = (size_t)(p / pieces) * n;
    int from = (int)(p % pieces) * (look + 1), to = min(n, from + look + 1);
    float most = 0.0f;
    for (int i = from; i < to; i++) back[row + i] = most = fmaxf(most, fabsf(x[row + i]));
    most = 0.0f;
    for (int i = to - 1; i >= from; i--) onward[row + i] = most = fmaxf(most, fabsf(x[row + i]));
}

__global__ void limiter_target(const float* onward, const float* back, float* gain, int channels, int n, int look,
                               float threshold) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= (long long)channels * n) return;
    int at = (int)(i % n);
    int ahead = min(look, n - 1 - at);
    int piece = at / (look + 1), last = (at + ahead) / (look + 1);
    float peak = piece == last ? onward[i] : fmaxf(onward[i], back[i + ahead]);
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
    float *gain, *onward, *back;
    size_t total = (size_t)channels * n;
    cudaMalloc(&gain, total * sizeof(float));
    cudaMalloc(&onward, total * sizeof(float));
    cudaMalloc(&back, total * sizeof(float));
    unsigned blocks = (unsigned)((total + 255) / 256);
    int pieces = (n + look) / (look + 1);
    size_t all = (size_t)channels * pieces;
    limiter_pieces<<<(unsigned)((all + 127) / 128), 128>>>(x, onward, back, channels, n, look, pieces);
    limiter_target<<<blocks, 256>>>(onward, back, gain, channels, n, look, threshold);
    limiter_release<<<(channels + 31) / 32, 32>>>(gain, least, channels, n, release);
    limiter_apply<<<blocks, 256>>>(x, gain, y, channels, n);
    cudaFree(gain);
    cudaFree(onward);
    cudaFree(back);
}
