#include <cuda_bf16.h>
#include <mma.h>
using namespace nvcuda;

typedef wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> Books;
typedef wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> Days;
typedef wmma::fragment<wmma::accumulator, 16, 16, 16, float> Sums;

// A number as three of eight bits.
__device__ void parted(float v, __nv_bfloat16* at) {
    for (int k = 0; k < 3; ++k) {
        at[k * 1280] = __float2bfloat16(v);
        v -= __bfloat162float(at[k * 1280]);
    }
}

// What books gain in scenarios: positions times moves, less what a book costs. A block has 32 books in 32 scenarios;
// numbers go to the tensor cores in three parts, and plainly where they would not fit.
__global__ void pnl(const float* held, const float* move, const float* cost, float* gain, int books, int k, int days) {
    __shared__ alignas(128) __nv_bfloat16 h[3 * 1280], m[3 * 1280];
    __shared__ alignas(128) float whole[32 * 36];
    int t = threadIdx.x, y0 = t / 64 * 16, x0 = t / 32 % 2 * 16;
    size_t wide = ((size_t)days + 31) / 32, top = blockIdx.x / wide * 32, left = blockIdx.x % wide * 32;
    Sums all;
    wmma::fill_fragment(all, 0.f);
    bool beyond = false;
    for (long long c0 = 0; c0 < k; c0 += 32) {
        for (int s = t; s < 1024; s += 128) {
            int y = s / 32, x = s % 32;
            float u = top + y < books && c0 + x < k ? held[(top + y) * k + c0 + x] : 0.f;
            float v = left + y < days && c0 + x < k ? move[(left + y) * k + c0 + x] : 0.f;
            beyond |= !(fabsf(u) < 1e15f && fabsf(v) < 1e15f);
            beyond |= (u != 0.f && fabsf(u) < 1e-15f) || (v != 0.f && fabsf(v) < 1e-15f);
            parted(u, h + y * 40 + x);
            parted(v, m + y * 40 + x);
        }
        __syncthreads();
        for (int c = 0; c < 32; c += 16) {
            Sums some;
            wmma::fill_fragment(some, 0.f);
            for (int both = 2; both >= 0; --both)
                for (int a = 0; a <= both; ++a) {
                    Books rows;
                    Days columns;
                    wmma::load_matrix_sync(rows, h + a * 1280 + y0 * 40 + c, 40);
                    wmma::load_matrix_sync(columns, m + (both - a) * 1280 + x0 * 40 + c, 40);
                    wmma::mma_sync(some, rows, columns, some);
                }
            for (int e = 0; e < some.num_elements; ++e) all.x[e] += some.x[e];
        }
        __syncthreads();
    }
    wmma::store_matrix_sync(whole + y0 * 36 + x0, all, 36, wmma::mem_row_major);
    bool plainly = __syncthreads_or(beyond);
    for (int s = t; s < 1024; s += 128) {
        size_t b = top + s / 32, d = left + s % 32;
        if (b >= books || d >= days) continue;
        float sum = whole[s / 32 * 36 + s % 32];
        if (plainly) {
            sum = 0.f;
            for (int c = 0; c < k; ++c) sum += held[b * k + c] * move[d * k + c];
        }
        gain[b * days + d] = sum - cost[b];
    }
}
