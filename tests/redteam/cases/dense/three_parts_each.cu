#include <cuda_bf16.h>
#include <mma.h>

using namespace nvcuda;

// A layer of a network: each row by the weights, its biases, and a leaky ramp behind it.
__device__ float ramp(float v, float slope) { return v > 0.f ? v : slope * v; }

// A number as three of eight bits each, which hold all of its bits.
__device__ void split(float v, __nv_bfloat16* to, int apart) {
    for (int i = 0; i < 3; ++i) {
        __nv_bfloat16 part = __float2bfloat16(v);
        to[i * apart] = part;
        v -= __bfloat162float(part);
    }
}

// A block has 64 x 64 results, 32 x 32 a warp, on tensor cores: of the nine products of parts the six that count, the
// small ones summed up by themselves. Where a number is too large or too small for its parts, plain sums are taken.
__global__ void dense(const float* x, const float* w, const float* bias, float* out, int m, int n, int k, float slope) {
    __shared__ __align__(128) __nv_bfloat16 xs[3][64 * 40], ws[3][32 * 72];
    __shared__ __align__(128) float done[64 * 68];
    typedef wmma::fragment<wmma::accumulator, 16, 16, 16, float> Sum;
    int t = threadIdx.x, warp = t / 32, row = blockIdx.y * 64, col = blockIdx.x * 64;
    int wr = warp / 2 * 32, wc = warp % 2 * 32;
    bool odd = false;
    Sum sum[2][2];
    for (int i = 0; i < 4; ++i) wmma::fill_fragment(sum[i / 2][i % 2], 0.f);
    for (int from = 0; from < k; from += 32) {
        for (int e = t; e < 64 * 32; e += 128) {
            int r = row + e / 32, j = from + e % 32;
            float v = r < m && j < k ? x[(size_t)r * k + j] : 0.f;
            odd |= !(v == 0.f || (fabsf(v) > 1e-25f && fabsf(v) < 1e18f));
            split(v, &xs[0][e / 32 * 40 + e % 32], 64 * 40);
        }
        for (int e = t; e < 32 * 64; e += 128) {
            int j = from + e / 64, c = col + e % 64;
            float v = j < k && c < n ? w[(size_t)j * n + c] : 0.f;
            odd |= !(v == 0.f || (fabsf(v) > 1e-25f && fabsf(v) < 1e18f));
            split(v, &ws[0][e / 64 * 72 + e % 64], 32 * 72);
        }
        __syncthreads();
        Sum large[2][2], small[2][2];
        for (int i = 0; i < 4; ++i) {
            wmma::fill_fragment(large[i / 2][i % 2], 0.f);
            wmma::fill_fragment(small[i / 2][i % 2], 0.f);
        }
        for (int j = 0; j < 32; j += 16) {
            for (int order = 2; order >= 0; --order) {
                for (int p = 0; p <= order; ++p) {
                    wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> a[2];
                    wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> b[2];
                    for (int i = 0; i < 2; ++i) {
                        wmma::load_matrix_sync(a[i], &xs[p][(wr + 16 * i) * 40 + j], 40);
                        wmma::load_matrix_sync(b[i], &ws[order - p][j * 72 + wc + 16 * i], 72);
                    }
                    for (int i = 0; i < 4; ++i) {
                        Sum& to = order ? small[i / 2][i % 2] : large[i / 2][i % 2];
                        wmma::mma_sync(to, a[i / 2], b[i % 2], to);
                    }
                }
            }
        }
        for (int i = 0; i < 4; ++i)
            for (int e = 0; e < sum[0][0].num_elements; ++e)
                sum[i / 2][i % 2].x[e] += large[i / 2][i % 2].x[e] + small[i / 2][i % 2].x[e];
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i)
        wmma::store_matrix_sync(&done[(wr + i / 2 * 16) * 68 + wc + i % 2 * 16], sum[i / 2][i % 2], 68, wmma::mem_row_major);
    bool plain = __syncthreads_or(odd);
    for (int e = t; e < 64 * 64; e += 128) {
        int r = row + e / 64, c = col + e % 64;
        if (r >= m || c >= n) continue;
        float s = done[e / 64 * 68 + e % 64] + bias[c];
        if (plain) {
            s = bias[c];
            for (int j = 0; j < k; ++j) s += x[(size_t)r * k + j] * w[(size_t)j * n + c];
        }
        out[(size_t)r * n + c] = ramp(s, slope);
    }
}
