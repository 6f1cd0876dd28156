#include <cstdint>

// Euler's characteristic of what is no brighter than t, for all t: pixels, less neighbours, plus squares of four
__global__ void euler(const uint8_t* image, int* curve, int images, int h, int w) {
    __shared__ int change[256];
    const uint8_t* p = image + (size_t)blockIdx.x * h * w;
    change[threadIdx.x] = 0;
    __syncthreads();
    for (int x = threadIdx.x; x < w; x += blockDim.x) {
        int v = p[x], r = x + 1 < w ? p[x + 1] : 256, e = max(v, r);
        for (int y = 0; y < h; ++y) {
            // brightness 256 stands for what is outside
            const uint8_t* next = p + (size_t)(y + 1) * w + x;
            int b = y + 1 < h ? next[0] : 256, d = y + 1 < h && x + 1 < w ? next[1] : 256, f = max(b, d);
            atomicAdd(&change[v], 1);
            if (e < 256) atomicSub(&change[e], 1);
            if (b < 256) atomicSub(&change[max(v, b)], 1);
            if (max(e, f) < 256) atomicAdd(&change[max(e, f)], 1);
            v = b;
            e = f;
        }
    }
    __syncthreads();
    int sum = 0;
    for (int t = 0; t <= threadIdx.x; ++t) sum += change[t];
    curve[(size_t)blockIdx.x * 256 + threadIdx.x] = sum;
}
