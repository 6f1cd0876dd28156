#include <cuda_runtime.h>
// Welch's estimate of the power spectrum: segments of `len` samples, `hop` apart, are weighed with the window and
// transformed; the squares are averaged and divided by the window's own power.
__global__ void periodograms(const float* signal, const float* window, float* each, int len, int hop, int bins) {
    const float* s = signal + (size_t)blockIdx.x * hop;
    for (int f = threadIdx.x; f < bins; f += 128) {
        double re = 0.0, im = 0.0;
        for (int t = 0; t < len; ++t) {
            float sine, cosine, v = s[t] * window[t];
            sincospif((float)(2.0 * ((long long)f * t % len) / len), &sine, &cosine);
            re += (double)v * cosine;
            im -= (double)v * sine;
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
    periodograms<<<segments, 128>>>(signal, window, each, len, hop, bins);
    averages<<<(bins + 127) / 128, 128>>>(each, window, power, segments, len, bins);
    cudaFreeAsync(each, 0);
}
