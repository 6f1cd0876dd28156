// The index grows with nir / red, so that ratio is compared; one float per pixel is kept, and no 64-bit products are needed.
#include <cstdint>
extern "C" __global__ void foliage(const uint16_t* nir, const uint16_t* red, const uint8_t* flags,
                                   int* when, float* index, int n, int slices)
{
    int pixel = blockIdx.x * blockDim.x + threadIdx.x;
    if (pixel >= n) return;
    int best = -1, bestA = 0, bestB = 0;
    float top = -1.0f;
    for (int t = 0; t < slices; ++t) {
        size_t at = (size_t)t * n + pixel;
        if (flags[at] & 6) continue;
        int a = nir[at], b = red[at];
        if ((a | b) == 0) continue;
        float ratio = __fdiv_rn((float)a, (float)b);
        if (ratio > top) {
            top = ratio;
            best = t;
            bestA = a;
            bestB = b;
        }
    }
    when[pixel] = best;
    index[pixel] = best < 0 ? 0.0f : (float)(bestA - bestB) / (float)(bestA + bestB);
}
