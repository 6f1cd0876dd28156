// Late-interaction score: for every document the sum over the 32 query tokens of the
// largest dot product with any of its tokens. One block a document, tensor cores.
#include <cuda_fp16.h>
#include <mma.h>
#include <math_constants.h>
using namespace nvcuda;

extern "C" __global__ void __launch_bounds__(128)
rerank(const __half* __restrict__ query, const __half* __restrict__ docs,
       const int* __restrict__ len, float* __restrict__ score, int n, int most)
{
    __shared__ __align__(128) __half rest[4][16 * 64];
    __shared__ __align__(128) float tile[4][32 * 20];
    __shared__ float best[4][32];
    const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;

    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> q[2][4];
    for (int m = 0; m < 2; m++)
        for (int k = 0; k < 4; k++)
            wmma::load_matrix_sync(q[m][k], query + m * 16 * 64 + k * 16, 64);

    const int doc = blockIdx.x;
    if (doc >= n) return;
    const int count = max(0, min(len[doc], most));
    const int tiles = (count + 15) / 16;
    float top = -65504.0f;      // lowest finite half
    for (int t = warp; t < tiles; t += 4) {
        const __half* from = docs + ((size_t)doc * most + t * 16) * 64;
        const int valid = min(16, count - t * 16);
        if (valid < 16) {
            for (int i = lane; i < 16 * 8; i += 32) {
                const int row = i >> 3;
                uint4 v = make_uint4(0, 0, 0, 0);
                if (row < valid) v = reinterpret_cast<const uint4*>(from)[i];
                reinterpret_cast<uint4*>(rest[warp])[i] = v;
            }
            __syncwarp();
            from = rest[warp];
        }
        wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc[2];
        wmma::fill_fragment(acc[0], 0.0f);
        wmma::fill_fragment(acc[1], 0.0f);
        for (int k = 0; k < 4; k++) {
            wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> d;
            wmma::load_matrix_sync(d, from + k * 16, 64);
            wmma::mma_sync(acc[0], q[0][k], d, acc[0]);
            wmma::mma_sync(acc[1], q[1][k], d, acc[1]);
        }
        wmma::store_matrix_sync(tile[warp], acc[0], 20, wmma::mem_row_major);
        wmma::store_matrix_sync(tile[warp] + 16 * 20, acc[1], 20, wmma::mem_row_major);
        __syncwarp();
        for (int c = 0; c < valid; c++) top = fmaxf(top, tile[warp][lane * 20 + c]);
        __syncwarp();
    }
    best[warp][lane] = top;
    __syncthreads();
    if (warp == 0) {
        float v = fmaxf(fmaxf(best[0][lane], best[1][lane]), fmaxf(best[2][lane], best[3][lane]));
        for (int o = 16; o; o >>= 1) v += __shfl_xor_sync(0xffffffffu, v, o);
        if (lane == 0) score[doc] = count ? v : 0.0f;
    }
}
