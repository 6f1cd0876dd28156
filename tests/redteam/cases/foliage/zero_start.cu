// Unsigned cross products a*d > c*b; the running best starts from the ratio 0/1, so there is no test for "first".
#include <cstdint>
extern "C" __global__ void foliage(const uint16_t* nir, const uint16_t* red, const uint8_t* flags,
                                   int* when, float* index, int n, int slices)
{
    int pixel = blockIdx.x * blockDim.x + threadIdx.x;
    if (pixel >= n) return;
    int best = -1;
    unsigned bestA = 0, bestB = 1;
    for (int t = 0; t < slices; ++t) {
        size_t at = (size_t)t * n + pixel;
        if (flags[at] & 6) continue;
        unsigned a = nir[at], b = red[at];
        if (a * bestB > bestA * b) {
            best = t;
            bestA = a;
            bestB = b;
        }
    }
    when[pixel] = best;
    index[pixel] = best < 0 ? 0.0f : (float)((int)bestA - (int)bestB) / (float)(bestA + bestB);
}
