// Spike sorting on the int8 tensor cores: samples lie in -100..100, so a signed byte holds each of them exactly,
// and m16n8k32 accumulates in int32. Four warps, 16 snippets each, 32 templates a pass.
#include <limits.h>

__device__ __forceinline__ int pack4(const int* __restrict__ row, bool live, int at, int k)
{
    unsigned w = 0;
    if (live) {
#pragma unroll
        for (int e = 0; e < 4; ++e)
            if (at + e < k) w |= (unsigned)(row[at + e] & 255) << (8 * e);
    }
    return (int)w;
}

extern "C" __global__ void __launch_bounds__(128) snippets(const int* __restrict__ snip, const int* __restrict__ tmpl,
                                    int* __restrict__ label, int* __restrict__ score, int n, int m, int k)
{
    __shared__ int a[64][12];
    __shared__ int b[32][12];
    __shared__ int len[32];
    const int tid = threadIdx.x, lane = tid & 31, warp = tid >> 5;
    const int g = lane >> 2, q = lane & 3;
    const int row0 = blockIdx.x * 64;
    int best[2] = {INT_MIN, INT_MIN}, who[2] = {INT_MAX, INT_MAX};
    for (int j0 = 0; j0 < m; j0 += 32) {
        int acc[4][4] = {};
        int norm = 0;
        for (int k0 = 0; k0 < k; k0 += 32) {
            for (int e = tid; e < 64 * 8; e += 128) {
                const int r = row0 + (e >> 3);
                a[e >> 3][e & 7] = pack4(snip + (size_t)r * k, r < n, k0 + (e & 7) * 4, k);
            }
            for (int e = tid; e < 32 * 8; e += 128) {
                const int j = j0 + (e >> 3);
                b[e >> 3][e & 7] = pack4(tmpl + (size_t)j * k, j < m, k0 + (e & 7) * 4, k);
            }
            __syncthreads();
            if (tid < 32) {
#pragma unroll
                for (int w = 0; w < 8; ++w) norm = __dp4a(b[tid][w], b[tid][w], norm);
            }
            const int a0 = a[warp * 16 + g][q], a1 = a[warp * 16 + g + 8][q];
            const int a2 = a[warp * 16 + g][q + 4], a3 = a[warp * 16 + g + 8][q + 4];
#pragma unroll
            for (int t = 0; t < 4; ++t) {
                const int b0 = b[t * 8 + g][q], b1 = b[t * 8 + g][q + 4];
                asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                             : "+r"(acc[t][0]), "+r"(acc[t][1]), "+r"(acc[t][2]), "+r"(acc[t][3])
                             : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
            }
            __syncthreads();
        }
        if (tid < 32) len[tid] = norm;
        __syncthreads();
#pragma unroll
        for (int t = 0; t < 4; ++t)
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                const int col = t * 8 + q * 2 + (e & 1), half = e >> 1;
                const int s = 2 * acc[t][e] - len[col];
                if (j0 + col < m && s > best[half]) { best[half] = s; who[half] = j0 + col; }
            }
        __syncthreads();
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        for (int d = 1; d < 4; d <<= 1) {
            const int os = __shfl_xor_sync(0xffffffffu, best[half], d);
            const int ow = __shfl_xor_sync(0xffffffffu, who[half], d);
            if (os > best[half] || (os == best[half] && ow < who[half])) { best[half] = os; who[half] = ow; }
        }
        const int r = row0 + warp * 16 + g + half * 8;
        if (q == 0 && r < n) { label[r] = who[half]; score[r] = best[half]; }
    }
}
