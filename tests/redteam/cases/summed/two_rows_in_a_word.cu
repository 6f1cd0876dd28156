#include <cuda_runtime.h>

// The sum of all pixels above and to the left of each, itself among them.
__global__ void across(const unsigned char* in, unsigned* out, int h, int w) {
    size_t y = 2 * (blockIdx.x * (size_t)blockDim.x + threadIdx.x);
    if (y >= h) return;
    const unsigned char *a = in + y * w, *b = y + 1 < h ? a + w : a;
    unsigned *p = out + y * w, *q = y + 1 < h ? p + w : p;
    unsigned first = 0, second = 0;
    // One addition for two rows; now and then the halves are emptied into sums of their own.
    for (int x0 = 0; x0 < w; x0 += 384) {
        unsigned both = 0;
        for (int x = x0; x < min(x0 + 384, w); ++x) {
            both += a[x] | (unsigned)b[x] << 16;
            q[x] = second + (both >> 16);
            p[x] = first + (both & 0xffffu);
        }
        first += both & 0xffffu;
        second += both >> 16;
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
    across<<<((size_t)h + 127) / 128, 64>>>(in, out, h, w);
    down<<<(w + 63) / 64, 64>>>(out, h, w);
}
