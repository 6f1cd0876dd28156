// Sliding-window decode attention; one block does the four heads that share a key/value head, so the cache
// is read once instead of four times. Each warp has a head for the softmax; the window is walked
// newest first, in chunks of 32 positions.
#include <cuda_runtime.h>
#include <math_constants.h>
#include <float.h>
#define D 64
#define WINDOW 1024

extern "C" __global__ void __launch_bounds__(128)
decodewin(const float* __restrict__ q, const float* __restrict__ kc, const float* __restrict__ vc,
          const int* __restrict__ length, float* __restrict__ out, int batch, int seq, int kvh) {
    __shared__ float ks[32][D + 1], vs[32][D], qs[4][D];
    const int g = blockIdx.x, b = blockIdx.y, heads = kvh * 4;
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const int len = min(max(length[b], 0), seq), count = min(len, WINDOW);
    const size_t step = (size_t)kvh * D;
    const size_t at = (size_t)b * seq * step + (size_t)g * D;
    const size_t mine = ((size_t)b * heads + g * 4 + warp) * D;
    qs[warp][lane] = q[mine + lane] * 0.125f;
    qs[warp][lane + 32] = q[mine + lane + 32] * 0.125f;

    float top = -FLT_MAX, sum = 0.f, a0 = 0.f, a1 = 0.f;
    for (int done = 0; done < count; done += 32) {
        const int here = min(32, count - done);
        __syncthreads();
        for (int i = threadIdx.x; i < here * D; i += 128) {
            const size_t pos = at + (size_t)(len - 1 - done - i / D) * step + i % D;
            ks[i / D][i % D] = kc[pos];
            vs[i / D][i % D] = vc[pos];
        }
        __syncthreads();
        float s = -CUDART_INF_F;
        if (lane < here) {
            s = 0.f;
#pragma unroll 16
            for (int d = 0; d < D; ++d) s = fmaf(qs[warp][d], ks[lane][d], s);
        }
        float m = s;
        for (int o = 16; o; o >>= 1) m = fmaxf(m, __shfl_xor_sync(~0u, m, o));
        m = fmaxf(m, top);
        const float keep = expf(top - m);
        const float e = lane < here ? expf(s - m) : 0.f;
        float l = e;
        for (int o = 16; o; o >>= 1) l += __shfl_xor_sync(~0u, l, o);
        sum = sum * keep + l;
        a0 *= keep;
        a1 *= keep;
        for (int t = 0; t < here; ++t) {
            const float w = __shfl_sync(~0u, e, t);
            a0 = fmaf(w, vs[t][lane], a0);
            a1 = fmaf(w, vs[t][lane + 32], a1);
        }
        top = m;
    }
    out[mine + lane] = count ? a0 / sum : 0.f;
    out[mine + lane + 32] = count ? a1 / sum : 0.f;
}
