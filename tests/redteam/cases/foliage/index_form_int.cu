// Counts have 16 bits: plain int arithmetic in the comparison.
#include <cstdint>
extern "C" __global__ void foliage(const uint16_t* nir, const uint16_t* red, const uint8_t* flags,
                                   int* when, float* index, int n, int slices)
{
    int pixel = blockIdx.x * blockDim.x + threadIdx.x;
    if (pixel >= n) return;
    int best = -1;
    int bestDiff = 0, bestSum = 1;
    for (int t = 0; t < slices; ++t) {
        size_t at = (size_t)t * n + pixel;
        if (flags[at] & 6) continue;
        int a = nir[at], b = red[at];
        int diff = a - b, sum = a + b;
        if (sum == 0) continue;
        if (best < 0 || diff * bestSum > bestDiff * sum) {
            best = t;
            bestDiff = diff;
            bestSum = sum;
        }
    }
    when[pixel] = best;
    index[pixel] = best < 0 ? 0.0f : (float)bestDiff / (float)bestSum;
}
