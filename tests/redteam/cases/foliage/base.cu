// Greenest-observation composite. For each pixel, out of `slices` acquisitions, the one with the greatest
// vegetation index (nir - red) / (nir + red) is chosen; of equal indices the earliest. Acquisitions whose
// flags have a cloud or shadow bit, or that have no signal at all, are left out. No acquisition left: -1 and 0.
#include <cstdint>
extern "C" __global__ void foliage(const uint16_t* nir, const uint16_t* red, const uint8_t* flags,
                                   int* when, float* index, int n, int slices)
{
    int pixel = blockIdx.x * blockDim.x + threadIdx.x;
    if (pixel >= n) return;
    int best = -1;
    long long bestDiff = 0, bestSum = 1;
    for (int t = 0; t < slices; ++t) {
        size_t at = (size_t)t * n + pixel;
        if (flags[at] & 6) continue;
        long long a = nir[at], b = red[at];
        long long diff = a - b, sum = a + b;
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
