#include <cstdint>

// Euler's characteristic of what is no brighter than t, for all t: pixels, less neighbours, plus squares of four
__global__ void euler(const uint8_t* image, int* curve, int images, int h, int w) {
    __shared__ int change[256];
    const uint8_t* p = image + (size_t)blockIdx.x * h * w;
    change[threadIdx.x] = 0;
    __syncthreads();
    for (int k = threadIdx.x; k < h * w; k += blockDim.x) {
        int y = k / w, x = k % w, v = p[k];
        bool right = x + 1 < w, below = y + 1 < h;
        int e = right ? max(v, (int)p[k + 1]) : -1, f = below ? max(v, (int)p[k + w]) : -1;
        int q = right && below ? max(max(e, f), (int)p[k + w + 1]) : -1;
        // one more and one less at the same brightness are nothing
        if (e == v) v = e = -1;
        if (v >= 0 && f == v) v = f = -1;
        if (q >= 0 && q == e) q = e = -1;
        if (q >= 0 && q == f) q = f = -1;
        if (v >= 0) atomicAdd(&change[v], 1);
        if (e >= 0) atomicSub(&change[e], 1);
        if (f >= 0) atomicSub(&change[f], 1);
        if (q >= 0) atomicAdd(&change[q], 1);
    }
    __syncthreads();
    int sum = 0;
    for (int t = 0; t <= threadIdx.x; ++t) sum += change[t];
    curve[(size_t)blockIdx.x * 256 + threadIdx.x] = sum;
}
