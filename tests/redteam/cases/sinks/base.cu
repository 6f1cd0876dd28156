#include <math.h>
// Attention as it is streamed: a position sees the first `first` positions and the last `window` ones, itself among
// these, and none that is later.
__global__ void sinks(const float* q, const float* k, const float* v, float* out, int n, int d, int first,
                      int window) {
    int i = blockIdx.x;
    float scale = 1.f / sqrtf((float)d);
    for (int c = threadIdx.x; c < d; c += blockDim.x) {
        float most = -INFINITY, total = 0.f, sum = 0.f;
        for (int pass = 0; pass < 2; ++pass)
            for (int j = 0; j <= i; ++j) {
                if (j >= first && j <= i - window) {
                    j = i - window;
                    continue;
                }
                float s = 0.f;
                for (int e = 0; e < d; ++e) s += q[(size_t)i * d + e] * k[(size_t)j * d + e];
                s *= scale;
                if (pass == 0) {
                    most = fmaxf(most, s);
                } else {
                    total += expf(s - most);
                    sum += expf(s - most) * v[(size_t)j * d + c];
                }
            }
        out[(size_t)i * d + c] = sum / total;
    }
}
