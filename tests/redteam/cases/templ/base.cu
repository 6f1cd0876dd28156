#include <cuda_runtime.h>

__global__ void distances(const float* img, const float* tpl, float* out, int h, int w, int th, int tw) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    float sum = 0.f;
    for (int i = 0; i < th; ++i)
        for (int j = 0; j < tw; ++j) {
            float v = y + i < h && x + j < w ? img[(size_t)(y + i) * w + x + j] : 0.f;
            float d = v - tpl[i * tw + j];
            sum += d * d;
        }
    out[(size_t)y * w + x] = sum;
}

// How far a template is from each place of a picture; outside it is 0.
extern "C" void templ(const float* img, const float* tpl, float* out, int h, int w, int th, int tw) {
    distances<<<dim3((w + 31) / 32, (h + 7) / 8), dim3(32, 8)>>>(img, tpl, out, h, w, th, tw);
}
