// Spike sorting, the tiles of 32 samples double buffered with cp.async (4 bytes a copy, zero filled outside).
#include <limits.h>

__device__ __forceinline__ void fetch(int* to, const int* from, bool live)
{
    const unsigned at = (unsigned)__cvta_generic_to_shared(to);
    const int bytes = live ? 4 : 0;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" :: "r"(at), "l"(from), "r"(bytes) : "memory");
}

extern "C" __global__ void snippets(const int* __restrict__ snip, const int* __restrict__ tmpl,
                                    int* __restrict__ label, int* __restrict__ score, int n, int m, int k)
{
    __shared__ int a[2][16][33];
    __shared__ int b[2][16][33];
    const int tx = threadIdx.x & 15, ty = threadIdx.x >> 4;
    const int row = blockIdx.x * 16 + ty;
    const int tiles = (k + 31) / 32;
    int best = INT_MIN, who = INT_MAX;

    auto stage = [&](int j0, int tile) {
        for (int c = tx; c < 32; c += 16) {
            const int at = tile * 32 + c;
            const bool la = at < k && row < n, lb = at < k && j0 + ty < m;
            fetch(&a[tile & 1][ty][c], la ? snip + (size_t)row * k + at : snip, la);
            fetch(&b[tile & 1][ty][c], lb ? tmpl + (size_t)(j0 + ty) * k + at : tmpl, lb);
        }
    };

    for (int j0 = 0; j0 < m; j0 += 16) {
        int dot = 0, norm = 0;
        stage(j0, 0);
        asm volatile("cp.async.commit_group;" ::: "memory");
        for (int tile = 0; tile < tiles; ++tile) {
            if (tile + 1 < tiles) {
                stage(j0, tile + 1);
                asm volatile("cp.async.commit_group;" ::: "memory");
            }
            asm volatile("cp.async.wait_group 1;" ::: "memory");
            __syncthreads();
            const int (*x)[33] = a[tile & 1];
            const int (*y)[33] = b[tile & 1];
#pragma unroll
            for (int c = 0; c < 32; ++c) {
                dot += x[ty][c] * y[tx][c];
                norm += y[tx][c] * y[tx][c];
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
