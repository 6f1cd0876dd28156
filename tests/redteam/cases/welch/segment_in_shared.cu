#include <cuda_runtime.h>
// Welch's estimate of the power spectrum: segments of `len` samples, `hop` apart, are weighed with the window and
// transformed; the squares are averaged and divided by the window's own power.
__global__ void __launch_bounds__(128)
    periodograms(const float* __restrict__ signal, const float* __restrict__ window, float* __restrict__ each, int len,
                 int hop, int bins) {
    // The weighed segment, and the turns of a circle.
    extern __shared__ float room[];
    float* v = room;
    float* cosine = room + len;
    float* sine = room + 2 * len;
    const float* s = signal + (size_t)blockIdx.x * hop;
    for (int t = threadIdx.x; t < len; t += 128) {
        v[t] = s[t] * window[t];
        sincospif((float)(2.0 * t / len), &sine[t], &cosine[t]);
    }
    __syncthreads();
    for (int f = threadIdx.x; f < bins; f += 128) {
        double re = 0.0, im = 0.0;
        for (int t = 0, r = 0; t < len; ++t) {
            re += (double)v[t] * cosine[r];
            im -= (double)v[t] * sine[r];
            r += f;
            if (r >= len) r -= len;
        }
        each[(size_t)blockIdx.x * bins + f] = (float)(re * re + im * im);
    }
}

__global__ void averages(const float* each, const float* window, float* power, int segments, int len, int bins) {
    int f = blockIdx.x * 128 + threadIdx.x;
    if (f >= bins) return;
    double sum = 0.0, weight = 0.0;
    for (int s = 0; s < segments; ++s) sum += each[(size_t)s * bins + f];
    for (int t = 0; t < len; ++t) weight += (double)window[t] * window[t];
    power[f] = (float)(sum / (weight * segments));
}

extern "C" void welch(const float* signal, const float* window, float* power, int n, int len, int hop) {
    int bins = len / 2 + 1, segments = n < len ? 0 : (n - len) / hop + 1;
    if (segments == 0) {
        cudaMemsetAsync(power, 0, sizeof(float) * bins, 0);
        return;
    }
    float* each = nullptr;
    cudaMallocAsync(&each, sizeof(float) * segments * bins, 0);
    periodograms<<<segments, 128, 12 * len>>>(signal, window, each, len, hop, bins);
    averages<<<(bins + 127) / 128, 128>>>(each, window, power, segments, len, bins);
    cudaFreeAsync(each, 0);
}
