// C = leaky(A * B^T + bias), half operands, float accumulation.
// mma.sync.m16n8k16 by hand: fragments come straight out of padded shared memory as 32-bit words, the epilogue
// works on the accumulator registers, so the 17 KB staging tile for C is gone. 8 warps, 128 x 64 tile of C.
#include <cuda_fp16.h>
#include <stdint.h>

#define TM 128
#define TN 64
#define TK 32
#define LD (TK + 8)         // 20 words a row: the eight rows of a fragment fall into distinct banks

__device__ __forceinline__ void mma16816(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2])
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

template <int ROWS>
__device__ __forceinline__ void stage(__half* s, const __half* g, int first, int rows, int k0, int k)
{
    if ((k & 7) == 0) {                                  // rows begin at multiples of 16 bytes
        for (int e = threadIdx.x; e < ROWS * TK / 8; e += blockDim.x) {
            int r = e / (TK / 8), q = e % (TK / 8) * 8;
            uint4 v = make_uint4(0, 0, 0, 0);
            if (first + r < rows && k0 + q < k) v = *reinterpret_cast<const uint4*>(g + (size_t)(first + r) * k + k0 + q);
            *reinterpret_cast<uint4*>(s + r * LD + q) = v;
        }
    } else {
        for (int e = threadIdx.x; e < ROWS * TK; e += blockDim.x) {
            int r = e / TK, q = e % TK;
            s[r * LD + q] = first + r < rows && k0 + q < k ? g[(size_t)(first + r) * k + k0 + q] : __float2half(0.0f);
        }
    }
}

extern "C" __global__ void __launch_bounds__(256)
marquetry(const __half* a, const __half* b, const float* bias, float* c, int m, int n, int k)
{
    __shared__ __align__(16) __half sa[TM * LD];
    __shared__ __align__(16) __half sb[TN * LD];
    int row0 = blockIdx.y * TM, col0 = blockIdx.x * TN;
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    int wr = (warp >> 1) * 32, wc = (warp & 1) * 32;
    int g = lane >> 2, t = lane & 3;

    float acc[2][4][4] = {};
    for (int k0 = 0; k0 < k; k0 += TK) {
        stage<TM>(sa, a, row0, m, k0, k);
        stage<TN>(sb, b, col0, n, k0, k);
        __syncthreads();
#pragma unroll
        for (int q = 0; q < TK; q += 16) {
            uint32_t fa[2][4], fb[4][2];
#pragma unroll
            for (int i = 0; i < 2; ++i) {
                const __half* p = sa + (wr + 16 * i + g) * LD + q + 2 * t;
                fa[i][0] = *reinterpret_cast<const uint32_t*>(p);
                fa[i][1] = *reinterpret_cast<const uint32_t*>(p + 8 * LD);
                fa[i][2] = *reinterpret_cast<const uint32_t*>(p + 8);
                fa[i][3] = *reinterpret_cast<const uint32_t*>(p + 8 * LD + 8);
            }
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                const __half* p = sb + (wc + 8 * j + g) * LD + q + 2 * t;
                fb[j][0] = *reinterpret_cast<const uint32_t*>(p);
                fb[j][1] = *reinterpret_cast<const uint32_t*>(p + 8);
            }
#pragma unroll
            for (int i = 0; i < 2; ++i)
#pragma unroll
                for (int j = 0; j < 4; ++j) mma16816(acc[i][j], fa[i], fb[j]);
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j)
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                int r = row0 + wr + 16 * i + g + (e >> 1) * 8, q = col0 + wc + 8 * j + 2 * t + (e & 1);
                if (r < m && q < n) {
                    float v = acc[i][j][e] + bias[q];
                    c[(size_t)r * n + q] = v > 0.0f ? v : 0.01f * v;
                }
            }
}
