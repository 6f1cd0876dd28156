#include <cstdint>

// two brightnesses a word
__device__ void put(int* half, int v, int by) { atomicAdd(&half[v / 2], v % 2 ? by * 65536 : by); }

// Euler's characteristic of what is no brighter than t, for all t: pixels, less neighbours, plus squares of four
__global__ void euler(const uint8_t* image, int* curve, int images, int h, int w) {
    __shared__ int change[256], half[128];
    const uint8_t* p = image + (size_t)blockIdx.x * h * w;
    change[threadIdx.x] = 0;
    if (threadIdx.x < 128) half[threadIdx.x] = 0;
    __syncthreads();
    for (int from = 0; from < h * w; from += 16000) {
        for (int k = from + threadIdx.x; k < min(h * w, from + 16000); k += blockDim.x) {
            int y = k / w, x = k % w, v = p[k];
            put(half, v, 1);
            if (x + 1 < w) put(half, max(v, (int)p[k + 1]), -1);
            if (y + 1 < h) put(half, max(v, (int)p[k + w]), -1);
            if (x + 1 < w && y + 1 < h)
                put(half, max(max(v, (int)p[k + 1]), max((int)p[k + w], (int)p[k + w + 1])), 1);
        }
        __syncthreads();
        if (threadIdx.x < 128) {
            int both = half[threadIdx.x], low = (short)both;
            change[2 * threadIdx.x] += low;
            change[2 * threadIdx.x + 1] += (both - low) >> 16;
            half[threadIdx.x] = 0;
        }
        __syncthreads();
    }
    __syncthreads();
    int sum = 0;
    for (int t = 0; t <= threadIdx.x; ++t) sum += change[t];
    curve[(size_t)blockIdx.x * 256 + threadIdx.x] = sum;
}
