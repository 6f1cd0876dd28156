#include <cuda_runtime.h>

// The sum of all pixels above and to the left of each, itself among them.
__global__ void across(const unsigned char* in, unsigned* out, int h, int w) {
    size_t y = (blockIdx.x * (size_t)blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    if (y >= h) return;
    unsigned before = 0;
    for (int x0 = 0; x0 < w; x0 += 32) {
        int x = x0 + lane;
        unsigned sum = x < w ? in[y * w + x] : 0u;
        for (int d = 1; d < 32; d *= 2) {
            unsigned left = __shfl_up_sync(0xffffffffu, sum, d);
            if (lane >= d) sum += left;
        }
        sum += before;
        if (x < w) out[y * w + x] = sum;
        before = __shfl_sync(0xffffffffu, sum, 31);
    }
}

__global__ void down(unsigned* out, int h, int w) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= w) return;
    unsigned sum = 0;
    unsigned* at = out + x;
    int y = 0;
    // Eight loads are under way at a time.
    for (; y + 7 < h; y += 8) {
        unsigned v[8];
#pragma unroll
        for (int k = 0; k < 8; ++k) v[k] = at[k * (size_t)w];
#pragma unroll
        for (int k = 0; k < 8; ++k) at[k * (size_t)w] = sum += v[k];
        at += 8 * (size_t)w;
    }
    for (; y < h; ++y, at += w) *at = sum += *at;
}

extern "C" void summed(const unsigned char* in, unsigned* out, int h, int w) {
    across<<<((size_t)h + 3) / 4, 128>>>(in, out, h, w);
    down<<<(w + 63) / 64, 64>>>(out, h, w);
}
