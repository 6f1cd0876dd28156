#include <cuda_fp16.h>

#define DEPTH 32

// Rows of 64 bytes in four pieces of 16; a piece lies where its row says, so that eight rows are
// read without conflicts.
__device__ __forceinline__ int place(int row, int piece) {
    return row * DEPTH + (piece ^ (row >> 1 & 3)) * 8;
}

__device__ __forceinline__ void matrices(unsigned (&to)[4], const __half* from) {
    unsigned at = (unsigned)__cvta_generic_to_shared(from);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(at)
                 : "memory");
}

__device__ __forceinline__ void multiply(float (&c)[4], const unsigned (&a)[4], unsigned b0,
                                         unsigned b1) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
                 "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__global__ void __launch_bounds__(128) halfprod(const __half* __restrict__ a,
                                                const __half* __restrict__ b,
                                                float* __restrict__ c, int m, int n, int k) {
    __shared__ __align__(16) __half as[64 * DEPTH], bs[64 * DEPTH];
    int t = threadIdx.x, lane = t % 32, warp = t / 32, y = warp / 2 * 32, x = warp % 2 * 32;
    int row0 = blockIdx.y * 64, col0 = blockIdx.x * 64;
    float sum[2][4][4] = {};
    const __half zero = __float2half(0.f);
    for (int k0 = 0; k0 < k; k0 += DEPTH) {
        for (int i = t; i < 64 * DEPTH; i += 128) {
            int r = i / DEPTH, kk = i % DEPTH, at = place(r, kk / 8) + kk % 8;
            bool in = k0 + kk < k;
            as[at] = in && row0 + r < m ? a[(size_t)(row0 + r) * k + k0 + kk] : zero;
            bs[at] = in && col0 + r < n ? b[(size_t)(col0 + r) * k + k0 + kk] : zero;
        }
        __syncthreads();
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            unsigned fa[2][4], fb[2][4];
#pragma unroll
            for (int i = 0; i < 2; ++i) {
                matrices(fa[i], as + place(y + 16 * i + lane % 16, 2 * half + lane / 16));
                matrices(fb[i], bs + place(x + 16 * i + lane % 8 + lane / 16 * 8,
                                           2 * half + lane / 8 % 2));
            }
#pragma unroll
            for (int i = 0; i < 2; ++i)
#pragma unroll
                for (int j = 0; j < 4; ++j)
                    multiply(sum[i][j], fa[i], fb[j / 2][j % 2 * 2], fb[j / 2][j % 2 * 2 + 1]);
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j)
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                int row = row0 + y + 16 * i + lane / 4 + e / 2 * 8;
                int col = col0 + x + 8 * j + lane % 4 * 2 + e % 2;
                if (row < m && col < n) c[(size_t)row * n + col] = sum[i][j][e];
            }
}
