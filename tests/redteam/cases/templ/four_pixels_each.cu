#include <cuda_runtime.h>

// Four rows a thread: what is read of the template serves all of them.
__global__ void distances(const float* img, const float* tpl, float* out, int h, int w, int th, int tw) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = (blockIdx.y * blockDim.y + threadIdx.y) * 4;
    if (x >= w || y >= h) return;
    float sum[4] = {};
    for (int i = 0; i < th; ++i)
        for (int j = 0; j < tw; ++j) {
            float t = tpl[i * tw + j];
#pragma unroll
            for (int k = 0; k < 4; ++k) {
                float v = y + i + k < h && x + j < w ? img[(size_t)(y + i + k) * w + x + j] : 0.f;
                float d = v - t;
                sum[k] += d * d;
            }
        }
#pragma unroll
    for (int k = 0; k < 4; ++k)
        if (y + k < h) out[(size_t)(y + k) * w + x] = sum[k];
}

// How far a template is from each place of a picture; outside it is 0.
extern "C" void templ(const float* img, const float* tpl, float* out, int h, int w, int th, int tw) {
    distances<<<dim3((w + 31) / 32, (h + 31) / 32), dim3(32, 8)>>>(img, tpl, out, h, w, th, tw);
}
