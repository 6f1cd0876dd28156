#include <cuda_runtime.h>
#include <mma.h>

// A linear layer in eight bits: tokens are coded with a scale each, then multiplied with weights of
// eight bits, which are words of four along k, padded.
// A block a token; the largest magnitude by shuffles, four values a load where rows allow it.
__global__ void token_codes(const float* x, int* codes, float* scales, int k) {
    __shared__ float largest[8];
    size_t token = blockIdx.x;
    const float* row = x + token * k;
    int words = (k + 3) / 4;
    bool vectors = ((size_t)row & 15) == 0;
    float most = 0.0f;
    for (int w = threadIdx.x; w < words; w += blockDim.x) {
        if (vectors && 4 * w + 4 <= k) {
            float4 v = *(const float4*)(row + 4 * w);
            most = fmaxf(most, fmaxf(fmaxf(fabsf(v.x), fabsf(v.y)), fmaxf(fabsf(v.z), fabsf(v.w))));
        } else {
            for (int i = 4 * w; i < min(k, 4 * w + 4); i++) {
                most = fmaxf(most, fabsf(row[i]));
            }
        }
    }
    for (int d = 16; d > 0; d /= 2) {
        most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, d));
    }
    if ((threadIdx.x & 31) == 0) {
        largest[threadIdx.x >> 5] = most;
    }
    __syncthreads();
    most = largest[0];
    for (int i = 1; i < 8; i++) {
        most = fmaxf(most, largest[i]);
    }
    float factor = most > 0.0f ? 127.0f / most : 0.0f;
    if (threadIdx.x == 0) {
        scales[token] = most / 127.0f;
    }
    for (int w = threadIdx.x; w < words; w += blockDim.x) {
        float v[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        for (int b = 0; b < 4; b++) {
            if (4 * w + b < k) {
                v[b] = row[4 * w + b];
            }
        }
        unsigned word = 0;
        for (int b = 0; b < 4; b++) {
            int code = 4 * w + b < k ? __float2int_rn(v[b] * factor) : 0;
            code = max(-127, min(127, code));
            word |= (unsigned)(code & 255) << (8 * b);
        }
        codes[token * words + w] = (int)word;
    }
}

using namespace nvcuda;

// Sixteen tokens by 64 columns on tensor cores, a warp 16 columns; sums of whole numbers are exact.
__global__ void product(const int* codes, const float* scales, const int* weight,
                        const float* weight_scale, float* y, int m, int n, int words) {
    __shared__ __align__(128) int a[4][64];
    __shared__ __align__(128) int b[4][4][64];
    __shared__ __align__(128) int found[4][256];
    int warp = threadIdx.x / 32;
    int lane = threadIdx.x & 31;
    int left = blockIdx.x * 64 + warp * 16;
    int top = blockIdx.y * 16;
    wmma::fragment<wmma::accumulator, 16, 16, 16, int> sum;
    wmma::fill_fragment(sum, 0);
    for (int from = 0; from < words; from += 16) {
        __syncthreads();
        // Four slices of 16 x 16 bytes: row e / 4, word e % 4 of the slice.
        for (int e = threadIdx.x; e < 256; e += 128) {
            int row = top + e % 64 / 4;
            int w = from + e / 64 * 4 + e % 4;
            a[e / 64][e % 64] = row < m && w < words ? codes[(size_t)row * words + w] : 0;
        }
        for (int e = lane; e < 256; e += 32) {
            int column = left + e % 64 / 4;
            int w = from + e / 64 * 4 + e % 4;
            b[warp][e / 64][e % 64] =
                column < n && w < words ? weight[(size_t)column * words + w] : 0;
        }
        __syncthreads();
        for (int slice = 0; slice < 4; slice++) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> one;
            wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> other;
            wmma::load_matrix_sync(one, (const signed char*)a[slice], 16);
            wmma::load_matrix_sync(other, (const signed char*)b[warp][slice], 16);
            wmma::mma_sync(sum, one, other, sum);
        }
    }
    wmma::store_matrix_sync(found[warp], sum, 16, wmma::mem_row_major);
    __syncwarp();
    for (int e = lane; e < 256; e += 32) {
        int row = top + e / 16;
        int column = left + e % 16;
        if (row < m && column < n) {
            y[(size_t)row * n + column] =
                (float)found[warp][e] * (scales[row] * weight_scale[column]);
        }
    }
}

extern "C" void w8a8(const float* x, const int* weight, const float* weight_scale, int* codes,
                     float* scales, float* y, int m, int n, int k) {
    int words = (k + 3) / 4;
    token_codes<<<m, 256>>>(x, codes, scales, k);
    dim3 block(128);
    dim3 grid((n + 63) / 64, (m + 15) / 16);
    product<<<grid, block>>>(codes, scales, weight, weight_scale, y, m, n, words);
}
