// Spike sorting: every snippet of k samples is matched against m templates.
// score(i, j) = 2 * <snippet i, template j> - |template j|^2; the best score, of equal ones the lowest template.
// A pass takes 64 templates. Within a pass score and template share one 32-bit key (score << 6 | 63 - place),
// so that a pass is settled by plain maxima and a single reduction; scores are small enough for it.
#include <limits.h>

extern "C" __global__ void snippets(const int* __restrict__ snip, const int* __restrict__ tmpl,
                                    int* __restrict__ label, int* __restrict__ score, int n, int m, int k)
{
    constexpr int BITS = 6, PASS = 1 << BITS, EACH = PASS / 16;
    __shared__ int a[16][33];
    __shared__ int b[PASS][33];
    const int tx = threadIdx.x & 15, ty = threadIdx.x >> 4;
    const int row = blockIdx.x * 16 + ty;
    int best = INT_MIN, who = INT_MAX;
    for (int j0 = 0; j0 < m; j0 += PASS) {
        int dot[EACH] = {}, norm[EACH] = {};
        for (int k0 = 0; k0 < k; k0 += 32) {
            for (int c = tx; c < 32; c += 16) {
                const bool in = k0 + c < k;
                a[ty][c] = in && row < n ? snip[(size_t)row * k + k0 + c] : 0;
#pragma unroll
                for (int e = 0; e < EACH; ++e) {
                    const int j = j0 + e * 16 + ty;
                    b[e * 16 + ty][c] = in && j < m ? tmpl[(size_t)j * k + k0 + c] : 0;
                }
            }
            __syncthreads();
#pragma unroll 8
            for (int c = 0; c < 32; ++c) {
                const int x = a[ty][c];
#pragma unroll
                for (int e = 0; e < EACH; ++e) {
                    const int y = b[e * 16 + tx][c];
                    dot[e] += x * y;
                    norm[e] += y * y;
                }
            }
            __syncthreads();
        }
        int key = INT_MIN;
#pragma unroll
        for (int e = 0; e < EACH; ++e) {
            const int place = e * 16 + tx;
            const int s = 2 * dot[e] - norm[e];
            const int mine = (int)((unsigned)s << BITS | (unsigned)(PASS - 1 - place));
            if (j0 + place < m) key = max(key, mine);
        }
        for (int d = 8; d; d >>= 1) key = max(key, __shfl_xor_sync(0xffffffffu, key, d, 16));
        const int s = key >> BITS;
        if (s > best) { best = s; who = j0 + PASS - 1 - (key & (PASS - 1)); }
    }
    if (row < n && tx == 0) { label[row] = who; score[row] = best; }
}
