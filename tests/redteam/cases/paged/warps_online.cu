#include <math.h>
// One question of each sequence to what it keeps in pages of 16 rows; a table says where its pages are.
__global__ void paged(const float* q, const float* keys, const float* values, const int* table, const int* length,
                      float* out, int d) {
    __shared__ float part[4][128], most[4], total[4];
    int seq = blockIdx.x, len = length[seq], lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int* pages = table + 16 * (size_t)seq;
    const float* own = q + (size_t)seq * d;
    float scale = 1.f / sqrtf((float)d);
    // Columns by 128: each pass makes the scores again, wider rows than that are rare.
    for (int c0 = 0; c0 < d; c0 += 128) {
        float m = -INFINITY, l = 0.f, acc[4] = {};
        for (int t = warp; t < len; t += 4) {
            size_t row = ((size_t)pages[t / 16] * 16 + t % 16) * d;
            float s = 0.f;
            for (int c = lane; c < d; c += 32) s += own[c] * keys[row + c];
            for (int k = 16; k > 0; k /= 2) s += __shfl_xor_sync(0xffffffffu, s, k);
            s *= scale;
            float now = fmaxf(m, s);
            float fade = m == -INFINITY ? 0.f : expf(m - now), p = s == -INFINITY ? 0.f : expf(s - now);
            l = l * fade + p;
            for (int k = 0; k < 4; ++k) {
                int c = c0 + 32 * k + lane;
                if (c < d) acc[k] = acc[k] * fade + p * values[row + c];
            }
            m = now;
        }
        for (int k = 0; k < 4; ++k) part[warp][32 * k + lane] = acc[k];
        if (lane == 0) most[warp] = m, total[warp] = l;
        __syncthreads();
        float all = fmaxf(fmaxf(most[0], most[1]), fmaxf(most[2], most[3])), sum = 0.f, v = 0.f;
        for (int w = 0; w < 4; ++w) {
            float f = most[w] == -INFINITY ? 0.f : expf(most[w] - all);
            sum += total[w] * f;
            v += part[w][threadIdx.x] * f;
        }
        if (c0 + threadIdx.x < d) out[(size_t)seq * d + c0 + threadIdx.x] = v / sum;
        __syncthreads();
    }
}
