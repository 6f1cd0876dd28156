// Decode step of grouped-query attention with a sliding window: one query a head, four heads share a
// key/value head, 64 numbers a head; the last 1024 of length[b] cached positions are attended to.
// The cache is [batch][seq][kvh][64], q and out are [batch][kvh*4][64]. An empty cache gives zeros.
#include <cuda_runtime.h>
#include <math_constants.h>
#define D 64
#define WINDOW 1024

extern "C" __global__ void decodewin(const float* q, const float* kc, const float* vc, const int* length,
                                     float* out, int batch, int seq, int kvh) {
    __shared__ float p[WINDOW];
    __shared__ float red[4], part[2][D];
    const int head = blockIdx.x, b = blockIdx.y, heads = kvh * 4;
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const int len = min(max(length[b], 0), seq), first = max(len - WINDOW, 0), count = len - first;
    const size_t step = (size_t)kvh * D;
    const size_t at = ((size_t)b * seq + first) * step + (size_t)(head / 4) * D;
    const float* query = q + ((size_t)b * heads + head) * D;

    const float q0 = query[lane] * 0.125f, q1 = query[lane + 32] * 0.125f;
    float top = -CUDART_INF_F;
    for (int t = warp; t < count; t += 4) {
        const float* key = kc + at + t * step;
        float s = q0 * key[lane] + q1 * key[lane + 32];
        for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(~0u, s, o);
        if (lane == 0) p[t] = s;
        top = fmaxf(top, s);
    }
    if (lane == 0) red[warp] = top;
    __syncthreads();
    top = fmaxf(fmaxf(red[0], red[1]), fmaxf(red[2], red[3]));
    __syncthreads();

    float sum = 0.f;
    for (int t = threadIdx.x; t < count; t += 128) {
        const float e = expf(p[t] - top);
        p[t] = e;
        sum += e;
    }
    for (int o = 16; o; o >>= 1) sum += __shfl_xor_sync(~0u, sum, o);
    if (lane == 0) red[warp] = sum;
    __syncthreads();
    sum = red[0] + red[1] + red[2] + red[3];

    const int d = threadIdx.x & 63, half = threadIdx.x >> 6;
    float acc = 0.f;
    for (int t = half; t < count; t += 2) acc += p[t] * vc[at + t * step + d];
    part[half][d] = acc;
    __syncthreads();
    if (half == 0)
        out[((size_t)b * heads + head) * D + d] = count ? (part[0][d] + part[1][d]) / sum : 0.f;
}
