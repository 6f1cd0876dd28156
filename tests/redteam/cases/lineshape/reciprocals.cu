#include <cuda_runtime.h>
#include <math.h>

// Absorption of a gas, line by line: the optical depth at each frequency is the sum of Lorentz profiles of all
// lines, with strengths that depend on the temperature.

__global__ void prepare(const float* strength, const float* width, const float* energy, float* peak, float* square,
                        int lines, float cold) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= lines) return;
    float gamma = 0.002f + 0.02f * fabsf(width[i]);
    peak[i] = strength[i] * expf(-cold * energy[i]) * gamma * 0.31830989f;
    square[i] = gamma * gamma;
}

__global__ void spectrum(const float* centre, const float* peak, const float* square, float* depth, int lines,
                         int bins) {
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= bins) return;
    float nu = (b + 0.5f) / bins;
    double sum = 0;
    for (int i = 0; i < lines; ++i) {
        float x = nu - centre[i];
        sum += peak[i] * __frcp_rn(x * x + square[i]);
    }
    depth[b] = (float)sum;
}

void lineshape(const float* centre, const float* strength, const float* width, const float* energy, float* depth,
               int lines, int bins, float cold) {
    float* peak;
    float* square;
    cudaMallocAsync(&peak, (size_t)lines * sizeof(float), 0);
    cudaMallocAsync(&square, (size_t)lines * sizeof(float), 0);
    prepare<<<(lines + 127) / 128, 128>>>(strength, width, energy, peak, square, lines, cold);
    spectrum<<<(bins + 127) / 128, 128>>>(centre, peak, square, depth, lines, bins);
    cudaFreeAsync(peak, 0);
    cudaFreeAsync(square, 0);
}
