#include <cuda_bf16.h>
#include <mma.h>
using namespace nvcuda;

typedef wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> Rows;
typedef wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> Columns;
typedef wmma::fragment<wmma::accumulator, 16, 16, 16, float> Sums;

__device__ void parted(float v, __nv_bfloat16* at, int step) {
    __nv_bfloat16 most = __float2bfloat16(v);
    float rest = v - __bfloat162float(most);
    __nv_bfloat16 more = __float2bfloat16(rest);
    at[0] = most, at[step] = more, at[2 * step] = __float2bfloat16(rest - __bfloat162float(more));
}

// Faces of an animation: the neutral one, and of each shape as much as the frame has of it.
// Each number goes to the tensor cores in three parts of eight bits; a block has 32 points of 32 frames.
__global__ void faces(const float* weight, const float* delta, const float* neutral, float* out, int frames, int shapes,
                      int points) {
    __shared__ alignas(128) __nv_bfloat16 p[3][32 * 40], q[3][32 * 40];
    __shared__ alignas(128) float whole[32 * 40];
    int t = threadIdx.x, y0 = t / 64 * 16, x0 = t / 32 % 2 * 16;
    size_t wide = ((size_t)points + 31) / 32, top = blockIdx.x / wide * 32, left = blockIdx.x % wide * 32;
    Sums all, some;
    wmma::fill_fragment(all, 0.f);
    bool beyond = false;
    for (long long c0 = 0; c0 < shapes; c0 += 32) {
        for (int s = t; s < 1024; s += 128) {
            int y = s / 32, x = s % 32;
            float u = top + y < frames && c0 + x < shapes ? weight[(top + y) * shapes + c0 + x] : 0.f;
            float v = c0 + y < shapes && left + x < points ? delta[(c0 + y) * points + left + x] : 0.f;
            // Where three parts may not hold a number.
            beyond |= !(fabsf(u) < 1e16f && fabsf(v) < 1e16f);
            beyond |= (u != 0.f && fabsf(u) < 1e-16f) || (v != 0.f && fabsf(v) < 1e-16f);
            parted(u, p[0] + y * 40 + x, 32 * 40);
            parted(v, q[0] + y * 40 + x, 32 * 40);
        }
        __syncthreads();
        for (int c = 0; c < 32; c += 16) {
            wmma::fill_fragment(some, 0.f);
            for (int a = 2; a >= 0; --a)
                for (int b = 2 - a; b >= 0; --b) {
                    Rows row;
                    Columns col;
                    wmma::load_matrix_sync(row, p[a] + y0 * 40 + c, 40);
                    wmma::load_matrix_sync(col, q[b] + c * 40 + x0, 40);
                    wmma::mma_sync(some, row, col, some);
                }
            for (int e = 0; e < some.num_elements; ++e) all.x[e] += some.x[e];
        }
        __syncthreads();
    }
    wmma::store_matrix_sync(whole + y0 * 40 + x0, all, 40, wmma::mem_row_major);
    bool plain = __syncthreads_or(beyond);
    for (int s = t; s < 1024; s += 128) {
        size_t i = top + s / 32, j = left + s % 32;
        if (i >= frames || j >= points) continue;
        float sum = whole[s / 32 * 40 + s % 32];
        if (plain) {
            sum = 0.f;
            for (long long c = 0; c < shapes; ++c) sum += weight[i * shapes + c] * delta[c * points + j];
        }
        out[i * points + j] = neutral[j] + sum;
    }
}
