// Spike sorting: every snippet of k samples is matched against m templates.
// score(i, j) = 2 * <snippet i, template j> - |template j|^2   (largest = nearest in the sense of least squares).
// For each snippet: the best score, and the template that gives it; of equal scores the lowest template wins.
#include <limits.h>

extern "C" __global__ void snippets(const int* __restrict__ snip, const int* __restrict__ tmpl,
                                    int* __restrict__ label, int* __restrict__ score, int n, int m, int k)
{
    __shared__ int a[16][33];
    __shared__ int b[16][33];
    const int tx = threadIdx.x & 15, ty = threadIdx.x >> 4;
    const int row = blockIdx.x * 16 + ty;
    int best = INT_MIN, who = INT_MAX;
    for (int j0 = 0; j0 < m; j0 += 16) {
        int dot = 0, norm = 0;
        for (int k0 = 0; k0 < k; k0 += 32) {
            for (int c = tx; c < 32; c += 16) {
                const bool in = k0 + c < k;
                a[ty][c] = in && row < n ? snip[(size_t)row * k + k0 + c] : 0;
                b[ty][c] = in && j0 + ty < m ? tmpl[(size_t)(j0 + ty) * k + k0 + c] : 0;
            }
            __syncthreads();
#pragma unroll
            for (int c = 0; c < 32; ++c) {
                dot += a[ty][c] * b[tx][c];
                norm += b[tx][c] * b[tx][c];
            }
            __syncthreads();
        }
        const int s = 2 * dot - norm;
        if (j0 + tx < m && s > best) { best = s; who = j0 + tx; }
    }
    for (int d = 8; d; d >>= 1) {
        const int os = __shfl_xor_sync(0xffffffffu, best, d, 16);
        const int ow = __shfl_xor_sync(0xffffffffu, who, d, 16);
        if (os > best || (os == best && ow < who)) { best = os; who = ow; }
    }
    if (row < n && tx == 0) { label[row] = who; score[row] = best; }
}
