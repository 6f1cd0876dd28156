// Sliding-window decode attention; every warp runs an online softmax over each fourth position with its
// own running maximum, and the four partial results are joined at the end.
#include <cuda_runtime.h>
#include <float.h>
#define D 64
#define WINDOW 1024
#define FLOOR (-FLT_MAX)

extern "C" __global__ void __launch_bounds__(128)
decodewin(const float* __restrict__ q, const float* __restrict__ kc, const float* __restrict__ vc,
          const int* __restrict__ length, float* __restrict__ out, int batch, int seq, int kvh) {
    __shared__ float ms[4], ls[4], os[4][D];
    const int head = blockIdx.x, b = blockIdx.y, heads = kvh * 4;
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const int len = min(max(length[b], 0), seq), first = max(len - WINDOW, 0), count = len - first;
    const size_t step = (size_t)kvh * D;
    const size_t at = ((size_t)b * seq + first) * step + (size_t)(head / 4) * D;
    const float* query = q + ((size_t)b * heads + head) * D;
    const float q0 = query[lane] * 0.125f, q1 = query[lane + 32] * 0.125f;

    float top = FLOOR, sum = 0.f, a0 = 0.f, a1 = 0.f;
    for (int t = warp; t < count; t += 4) {
        const float* key = kc + at + t * step;
        const float* val = vc + at + t * step;
        float s = q0 * key[lane] + q1 * key[lane + 32];
        for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(~0u, s, o);
        const float m = fmaxf(top, s);
        const float keep = expf(top - m), e = expf(s - m);
        sum = sum * keep + e;
        a0 = a0 * keep + e * val[lane];
        a1 = a1 * keep + e * val[lane + 32];
        top = m;
    }
    if (lane == 0) { ms[warp] = top; ls[warp] = sum; }
    os[warp][lane] = a0;
    os[warp][lane + 32] = a1;
    __syncthreads();
    if (threadIdx.x < D) {
        const int d = threadIdx.x;
        const float m = fmaxf(fmaxf(ms[0], ms[1]), fmaxf(ms[2], ms[3]));
        float l = 0.f, o = 0.f;
#pragma unroll
        for (int w = 0; w < 4; ++w) {
            const float f = expf(ms[w] - m);
            l += ls[w] * f;
            o += os[w][d] * f;
        }
        out[((size_t)b * heads + head) * D + d] = count ? o / l : 0.f;
    }
}
