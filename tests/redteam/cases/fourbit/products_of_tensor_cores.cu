#include <mma.h>
#include <cuda_fp16.h>
// y = x W^T for weights of four bits, eight to a word. `per` words of a row share a scale and a zero point, which is
// taken off before. A weight less its zero point is a whole number that a half holds without rounding, and so are the
// inputs: the tensor cores' products are exact. Sums of at most 16 words go to floats. A warp takes 16 rows for 16 inputs.
using namespace nvcuda;

extern "C" __global__ void __launch_bounds__(128)
    fourbit(const half* __restrict__ x, const unsigned* __restrict__ weight, const half* __restrict__ scale,
            const unsigned char* __restrict__ zero, float* __restrict__ y, int batch, int rows, int words, int per) {
    __shared__ __align__(32) half inputs[4][256], weights[4][256];
    __shared__ __align__(32) float products[4][256];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int first = (blockIdx.x * 4 + warp) * 16, from = blockIdx.y * 16;
    if (first >= rows) return;
    half* a = inputs[warp];
    half* b = weights[warp];
    float* c = products[warp];
    int groups = (words + per - 1) / per;
    float sum[8] = {};
    for (int group = 0; group < groups; ++group) {
        int last = min(words, (group + 1) * per);
        for (int start = group * per; start < last; start += 16) {
            int stop = min(last, start + 16);
            wmma::fragment<wmma::accumulator, 16, 16, 16, float> total;
            wmma::fill_fragment(total, 0.0f);
            for (int w = start; w < stop; w += 2) {
                // Two words are 16 weights; lane l has word l/16 of row l%16.
                int word = w + lane / 16, line = lane % 16, row = first + line, input = from + line;
                bool in = word < stop;
                unsigned bits = in && row < rows ? weight[(size_t)row * words + word] : 0;
                float z = in && row < rows ? (float)zero[(size_t)row * groups + group] : 0.0f;
                const half* v = x + ((size_t)input * words + word) * 8;
                bool there = in && input < batch;
                __syncwarp();
#pragma unroll
                for (int k = 0; k < 8; ++k) {
                    b[line * 16 + lane / 16 * 8 + k] = __float2half((float)(bits >> 4 * k & 15) - z);
                    a[line * 16 + lane / 16 * 8 + k] = there ? v[k] : __float2half(0.0f);
                }
                __syncwarp();
                wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
                wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> right;
                wmma::load_matrix_sync(left, a, 16);
                wmma::load_matrix_sync(right, b, 16);
                wmma::mma_sync(total, left, right, total);
            }
            __syncwarp();
            wmma::store_matrix_sync(c, total, 16, wmma::mem_row_major);
            __syncwarp();
            int row = first + lane % 16;
            float s = row < rows ? __half2float(scale[(size_t)row * groups + group]) : 0.0f;
#pragma unroll
            for (int k = 0; k < 8; ++k) sum[k] = fmaf(s, c[(2 * k + lane / 16) * 16 + lane % 16], sum[k]);
        }
    }
#pragma unroll
    for (int k = 0; k < 8; ++k) {
        int input = from + 2 * k + lane / 16, row = first + lane % 16;
        if (input < batch && row < rows) y[(size_t)input * rows + row] = sum[k];
    }
}
