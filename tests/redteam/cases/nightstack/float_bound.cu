// Stacks K exposures of 16 bits (frame after frame, P pixels each).  Twice, a pixel's values that lie more than 2.5
// standard deviations from the mean of those still in are left out; all in whole numbers.  The mean of the rest, less the
// dark level and times the gain, is the picture; kept counts the values that stayed, rejected those that a frame lost.
#include <cuda_runtime.h>

struct Sums {
    long long n, s, q;   // count, sum, sum of squares
};

// |x - mean| <= 2.5 sigma, times n
__device__ bool inside(const Sums& a, long long x) {
    float d = (float)(a.n * x - a.s);
    return d * d <= 6.25f * (float)(a.n * a.q - a.s * a.s);
}

__global__ void stack(const unsigned short* frames, const float* dark, const float* gain, float* picture, int* kept,
                      int* rejected, int K, int P) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= P) return;
    Sums all = {0, 0, 0}, some = {0, 0, 0};
    for (int k = 0; k < K; k++) {
        long long x = frames[(size_t)k * P + p];
        all.n++, all.s += x, all.q += x * x;
    }
    for (int k = 0; k < K; k++) {
        long long x = frames[(size_t)k * P + p];
        if (inside(all, x)) some.n++, some.s += x, some.q += x * x;
    }
    long long n = 0, s = 0;
    for (int k = 0; k < K; k++) {
        long long x = frames[(size_t)k * P + p];
        if (inside(all, x) && inside(some, x)) n++, s += x;
        else atomicAdd(&rejected[k], 1);
    }
    picture[p] = (float)(((double)s / (double)n - (double)dark[p]) * (double)gain[p]);
    kept[p] = (int)n;
}

extern "C" void nightstack(const unsigned short* frames, const float* dark, const float* gain, float* picture, int* kept,
                           int* rejected, int K, int P) {
    cudaMemsetAsync(rejected, 0, (size_t)K * sizeof(int), 0);
    stack<<<(P + 255) / 256, 256>>>(frames, dark, gain, picture, kept, rejected, K, P);
}
