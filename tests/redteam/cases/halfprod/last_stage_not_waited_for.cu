#include <cuda_fp16.h>

#define DEPTH 32
#define WIDTH 34

__device__ __forceinline__ void copy4(__half* to, const __half* from, bool in) {
    unsigned at = (unsigned)__cvta_generic_to_shared(to);
    int bytes = in ? 4 : 0;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(at), "l"(from), "r"(bytes)
                 : "memory");
}

// Two tiles: the next one is on its way while this one is multiplied. Pairs of halves are copied
// where every row begins at a multiple of four bytes.
__global__ void __launch_bounds__(256) halfprod(const __half* __restrict__ a,
                                                const __half* __restrict__ b,
                                                float* __restrict__ c, int m, int n, int k) {
    __shared__ __align__(16) __half as[2][32][WIDTH], bs[2][32][WIDTH];
    int t = threadIdx.x, row0 = blockIdx.y * 32, col0 = blockIdx.x * 32;
    bool pairs = k % 2 == 0 && ((size_t)a & 3) == 0 && ((size_t)b & 3) == 0;
    auto fetch = [&](int k0, int turn) {
        for (int i = t; i < 32 * DEPTH / 2; i += 256) {
            int r = i / (DEPTH / 2), kk = i % (DEPTH / 2) * 2;
            bool ina = row0 + r < m && k0 + kk < k, inb = col0 + r < n && k0 + kk < k;
            size_t ia = ina ? (size_t)(row0 + r) * k + k0 + kk : 0;
            size_t ib = inb ? (size_t)(col0 + r) * k + k0 + kk : 0;
            if (pairs) {
                copy4(&as[turn][r][kk], a + ia, ina);
                copy4(&bs[turn][r][kk], b + ib, inb);
            } else {
                const __half zero = __float2half(0.f);
                bool more = k0 + kk + 1 < k;
                as[turn][r][kk] = ina ? a[ia] : zero;
                as[turn][r][kk + 1] = ina && more ? a[ia + 1] : zero;
                bs[turn][r][kk] = inb ? b[ib] : zero;
                bs[turn][r][kk + 1] = inb && more ? b[ib + 1] : zero;
            }
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
    };
    int x = t % 16, y = t / 16;
    float sum[2][2] = {};
    if (k > 0) fetch(0, 0);
    for (int k0 = 0, turn = 0; k0 < k; k0 += DEPTH, turn ^= 1) {
        if (k0 + DEPTH < k) fetch(k0 + DEPTH, turn ^ 1);
        asm volatile("cp.async.wait_group 1;" ::: "memory");
        __syncthreads();
        for (int kk = 0; kk < DEPTH; kk += 2) {
            float2 va[2], vb[2];
            for (int i = 0; i < 2; ++i) {
                va[i] = __half22float2(*(const __half2*)&as[turn][y + 16 * i][kk]);
                vb[i] = __half22float2(*(const __half2*)&bs[turn][x + 16 * i][kk]);
            }
            for (int i = 0; i < 2; ++i)
                for (int j = 0; j < 2; ++j)
                    sum[i][j] = fmaf(va[i].y, vb[j].y, fmaf(va[i].x, vb[j].x, sum[i][j]));
        }
        __syncthreads();
    }
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) {
            int row = row0 + y + 16 * i, col = col0 + x + 16 * j;
            if (row < m && col < n) c[(size_t)row * n + col] = sum[i][j];
        }
}
