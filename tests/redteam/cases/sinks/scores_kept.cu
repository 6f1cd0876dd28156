#include <math.h>
// Attention as it is streamed: a position sees the first `first` positions and the last `window` ones, itself among
// these, and none that is later.
__global__ void sinks(const float* q, const float* k, const float* v, float* out, int n, int d, int first,
                      int window) {
    // Each score is made once and kept; what is larger than all others is taken from each.
    __shared__ float score[160], most, total;
    int i = blockIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int head = min(first, i + 1), begin = max(i - window + 1, head), seen = head + i + 1 - begin;
    const float* own = q + (size_t)i * d;
    float scale = 1.f / sqrtf((float)d);
    for (int t = warp; t < seen; t += blockDim.x / 32) {
        size_t row = (size_t)(t < head ? t : begin + t - head) * d;
        float s = 0.f;
        for (int e = lane; e < d; e += 32) s += own[e] * k[row + e];
        for (int m = 16; m > 0; m /= 2) s += __shfl_xor_sync(0xffffffffu, s, m);
        if (lane == 0) score[t] = s * scale;
    }
    __syncthreads();
    if (warp == 0) {
        float m = -INFINITY, sum = 0.f;
        for (int t = lane; t < seen; t += 32) m = fmaxf(m, score[t]);
        for (int e = 16; e > 0; e /= 2) m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, e));
        for (int t = lane; t < seen; t += 32) sum += expf(score[t] - m);
        for (int e = 16; e > 0; e /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, e);
        if (lane == 0) most = m, total = sum;
    }
    __syncthreads();
    for (int c = threadIdx.x; c < d; c += blockDim.x) {
        float sum = 0.f;
        for (int t = 0; t < seen; ++t)
            sum += expf(score[t] - most) * v[(size_t)(t < head ? t : begin + t - head) * d + c];
        out[(size_t)i * d + c] = sum / total;
    }
}
