#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

// Tensor cores for W^T x^T: both factors are read as if stored by columns, so nothing is transposed, and a
// column of the float tile is a pair. A last tile that is not full is moved back to end with the last pair;
// the pairs it shares with the tile before it are left to that one.
#define D 64
#define WARPS 4

extern "C" __global__ void bilin(const __half* __restrict__ x, const __half* __restrict__ w,
                                 const __half* __restrict__ y, float* __restrict__ out, int n)
{
    __shared__ __align__(32) float ts[WARPS][D * 16];
    int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
    int first = (blockIdx.x * WARPS + warp) * 16;
    if (first >= n) return;
    if (n < 16) {                                        // less than a tile in all: plain sums
        for (int i = 0; i < n; i++) {
            float s = 0.0f;
            for (int b = lane; b < D; b += 32) {
                float t = 0.0f;
                for (int a = 0; a < D; a++) t += __half2float(x[i * D + a]) * __half2float(w[a * D + b]);
                s += t * __half2float(y[i * D + b]);
            }
            for (int d = 16; d > 0; d >>= 1) s += __shfl_xor_sync(0xffffffffu, s, d);
            if (lane == 0) out[i] = s;
        }
        return;
    }
    const int from = first;
    first = min(first, n - 16);
    for (int c = 0; c < D; c += 16) {
        wmma::fragment<wmma::accumulator, 16, 16, 16, float> t;
        wmma::fill_fragment(t, 0.0f);
        for (int k = 0; k < D; k += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::col_major> a;
            wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> b;
            wmma::load_matrix_sync(a, w + k * D + c, D);
            wmma::load_matrix_sync(b, x + (size_t)first * D + k, D);
            wmma::mma_sync(t, a, b, t);
        }
        wmma::store_matrix_sync(ts[warp] + c, t, D, wmma::mem_col_major);      // [pair][column of W]
    }
    __syncwarp();
    int pair = lane >> 1, side = (lane & 1) * 32;
    float s = 0.0f;
    for (int j = 0; j < 32; j++)
        s += ts[warp][pair * D + side + j] * __half2float(y[(size_t)(first + pair) * D + side + j]);
    s += __shfl_xor_sync(0xffffffffu, s, 1);
    if (side == 0 && first + pair >= from) out[first + pair] = s;
}
