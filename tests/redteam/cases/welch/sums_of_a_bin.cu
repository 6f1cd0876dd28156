#include <cuda_runtime.h>
// Welch's estimate of the power spectrum: segments of `len` samples, `hop` apart, are weighed with the window and
// transformed; the squares are averaged and divided by the window's own power.
// A block has a bin, and its threads the segments.
__global__ void __launch_bounds__(256)
    bins_of(const float* __restrict__ signal, const float* __restrict__ window, float* __restrict__ power, int segments,
            int len, int hop) {
    __shared__ float2 turn[256];
    __shared__ float weight[256];
    __shared__ double part[2][256];
    int f = blockIdx.x;
    double sum = 0.0, all = 0.0;
    for (int t = threadIdx.x; t < len; t += 256) all += (double)window[t] * window[t];
    for (int first = 0; first < segments; first += 256) {
        int segment = first + threadIdx.x;
        const float* s = signal + (size_t)segment * hop;
        double re = 0.0, im = 0.0;
        for (int begin = 0; begin < len; begin += 256) {
            int t = begin + threadIdx.x;
            __syncthreads();
            if (t < len) {
                sincospif((float)(2.0 * ((long long)f * t % len) / len), &turn[threadIdx.x].y, &turn[threadIdx.x].x);
                weight[threadIdx.x] = window[t];
            }
            __syncthreads();
            if (segment < segments)
                for (int k = 0; k < 256 && begin + k < len; ++k) {
                    float v = s[begin + k] * weight[k];
                    re += (double)v * turn[k].x;
                    im -= (double)v * turn[k].y;
                }
        }
        if (segment < segments) sum += (float)(re * re + im * im);
    }
    part[0][threadIdx.x] = sum;
    part[1][threadIdx.x] = all;
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
        if (threadIdx.x < s) {
            part[0][threadIdx.x] += part[0][threadIdx.x + s];
            part[1][threadIdx.x] += part[1][threadIdx.x + s];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) power[f] = (float)(part[0][0] / (part[1][0] * segments));
}

extern "C" void welch(const float* signal, const float* window, float* power, int n, int len, int hop) {
    int bins = len / 2 + 1, segments = n < len ? 0 : (n - len) / hop + 1;
    if (segments == 0) {
        cudaMemsetAsync(power, 0, sizeof(float) * bins, 0);
        return;
    }
    bins_of<<<bins, 256>>>(signal, window, power, segments, len, hop);
}
