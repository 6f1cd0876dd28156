// Eight warps share 32 pixels: each takes a run of acquisitions, warp 0 joins the eight results in order of time.
#include <cstdint>
extern "C" __global__ void foliage(const uint16_t* nir, const uint16_t* red, const uint8_t* flags,
                                   int* when, float* index, int n, int slices)
{
    __shared__ int keptT[8][32];
    __shared__ unsigned keptA[8][32], keptB[8][32];
    int lane = threadIdx.x, part = threadIdx.y;
    int pixel = blockIdx.x * 32 + lane;
    int best = -1;
    unsigned bestA = 0, bestB = 0;
    int run = (slices + 7) / 8;
    int from = part * run, to = min(slices, from + run);
    if (pixel < n) {
        for (int t = from; t < to; ++t) {
            size_t at = (size_t)t * n + pixel;
            if (flags[at] & 6) continue;
            unsigned a = nir[at], b = red[at];
            if ((a | b) == 0) continue;
            if (best < 0 || a * bestB > bestA * b) { best = t; bestA = a; bestB = b; }
        }
    }
    keptT[part][lane] = best;
    keptA[part][lane] = bestA;
    keptB[part][lane] = bestB;
    __syncthreads();
    if (part != 0 || pixel >= n) return;
    for (int k = 1; k < 8; ++k) {
        int t = keptT[k][lane];
        unsigned a = keptA[k][lane], b = keptB[k][lane];
        if (t >= 0 && (best < 0 || a * bestB > bestA * b)) { best = t; bestA = a; bestB = b; }
    }
    when[pixel] = best;
    index[pixel] = best < 0 ? 0.0f : (float)((int)bestA - (int)bestB) / (float)(bestA + bestB);
}
