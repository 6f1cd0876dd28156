#include <math.h>
// Attention as it is streamed: a position sees the first `first` positions and the last `window` ones, itself among
// these, and none that is later.
__global__ void sinks(const float* q, const float* k, const float* v, float* out, int n, int d, int first,
                      int window) {
    // Four warps share what a position sees, each with a largest score of its own; columns by 128.
    __shared__ float part[4][128], top[4], all[4];
    int i = blockIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int head = min(first, i + 1), begin = max(i - window + 1, head), seen = head + i + 1 - begin;
    const float* own = q + (size_t)i * d;
    float scale = 1.f / sqrtf((float)d);
    for (int from = 0; from < d; from += 128) {
        float most = -INFINITY, total = 0.f, sum[4] = {};
        for (int t = warp; t < seen; t += 4) {
            size_t row = (size_t)(t < head ? t : begin + t - head) * d;
            float s = 0.f;
            for (int e = lane; e < d; e += 32) s += own[e] * k[row + e];
            for (int m = 16; m > 0; m /= 2) s += __shfl_xor_sync(0xffffffffu, s, m);
            s *= scale;
            float now = fmaxf(most, s);
            float fade = most == -INFINITY ? 0.f : expf(most - now), p = s == -INFINITY ? 0.f : expf(s - now);
            total = total * fade + p;
            for (int m = 0; m < 4; ++m) {
                int c = from + 32 * m + lane;
                if (c < d) sum[m] = sum[m] * fade + p * v[row + c];
            }
            most = now;
        }
        for (int m = 0; m < 4; ++m) part[warp][32 * m + lane] = sum[m];
        if (lane == 0) top[warp] = most, all[warp] = total;
        __syncthreads();
        float highest = fmaxf(fmaxf(top[0], top[1]), fmaxf(top[2], top[3])), below = 0.f, above = 0.f;
        for (int m = 0; m < 4; ++m) {
            float f = top[m] == -INFINITY ? 0.f : expf(top[m] - highest);
            below += all[m] * f;
            above += part[m][threadIdx.x] * f;
        }
        if (from + threadIdx.x < d) out[(size_t)i * d + from + threadIdx.x] = above / below;
    }
}
