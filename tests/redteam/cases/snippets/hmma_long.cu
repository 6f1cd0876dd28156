// Spike sorting on the half tensor cores: integers of -100..100 are exact in half, their products exact in float,
// and the float accumulators are emptied into integers every 2048 samples, before they could round.
#include <limits.h>
#include <cuda_fp16.h>

__device__ __forceinline__ unsigned pack2(const int* __restrict__ row, bool live, int at, int k)
{
    const int x = live && at < k ? row[at] : 0;
    const int y = live && at + 1 < k ? row[at + 1] : 0;
    const __half2 h = __halves2half2(__int2half_rn(x), __int2half_rn(y));
    return *reinterpret_cast<const unsigned*>(&h);
}

extern "C" __global__ void __launch_bounds__(128) snippets(const int* __restrict__ snip, const int* __restrict__ tmpl,
                                    int* __restrict__ label, int* __restrict__ score, int n, int m, int k)
{
    constexpr int FLUSH = 2048;
    __shared__ unsigned a[64][20];
    __shared__ unsigned b[32][20];
    __shared__ int len[32];
    const int tid = threadIdx.x, lane = tid & 31, warp = tid >> 5;
    const int g = lane >> 2, q = lane & 3;
    const int row0 = blockIdx.x * 64;
    int best[2] = {INT_MIN, INT_MIN}, who[2] = {INT_MAX, INT_MAX};
    for (int j0 = 0; j0 < m; j0 += 32) {
        float acc[4][4] = {};
        int sum[4][4] = {};
        int norm = 0;
        for (int k0 = 0; k0 < k; k0 += 32) {
            for (int e = tid; e < 64 * 16; e += 128) {
                const int r = row0 + (e >> 4);
                a[e >> 4][e & 15] = pack2(snip + (size_t)r * k, r < n, k0 + (e & 15) * 2, k);
            }
            for (int e = tid; e < 32 * 16; e += 128) {
                const int j = j0 + (e >> 4);
                b[e >> 4][e & 15] = pack2(tmpl + (size_t)j * k, j < m, k0 + (e & 15) * 2, k);
            }
            __syncthreads();
            if (tid < 32) {
                for (int w = 0; w < 16; ++w) {
                    const float2 f = __half22float2(*reinterpret_cast<const __half2*>(&b[tid][w]));
                    norm += (int)f.x * (int)f.x + (int)f.y * (int)f.y;
                }
            }
#pragma unroll
            for (int w = 0; w < 16; w += 8) {
                const unsigned a0 = a[warp * 16 + g][w + q], a1 = a[warp * 16 + g + 8][w + q];
                const unsigned a2 = a[warp * 16 + g][w + q + 4], a3 = a[warp * 16 + g + 8][w + q + 4];
#pragma unroll
                for (int t = 0; t < 4; ++t) {
                    const unsigned b0 = b[t * 8 + g][w + q], b1 = b[t * 8 + g][w + q + 4];
                    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                                 : "+f"(acc[t][0]), "+f"(acc[t][1]), "+f"(acc[t][2]), "+f"(acc[t][3])
                                 : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
                }
            }
            if ((k0 + 32) % FLUSH == 0 || k0 + 32 >= k) {
#pragma unroll
                for (int t = 0; t < 4; ++t)
#pragma unroll
                    for (int e = 0; e < 4; ++e) { sum[t][e] += __float2int_rn(acc[t][e]); acc[t][e] = 0.f; }
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
                const int s = 2 * sum[t][e] - len[col];
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
