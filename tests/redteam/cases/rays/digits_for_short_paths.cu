#include <mma.h>

// Residual of an algebraic reconstruction: what was measured along each ray less the projection of the volume, weighted by the
// ray, for many slices at once.

using namespace nvcuda;

constexpr int PITCH = 40;

// The upper eleven digits as they are, the rest as far as the tensor core takes it: together they are the number.
__device__ __forceinline__ void split(float v, float& high, float& low)
{
    high = __uint_as_float(__float_as_uint(v) & 0xffffe000u);
    low = wmma::__float_to_tf32(v - high);
}

extern "C" __global__ void rays(const float* path, const float* volume, const float* measured, const float* weight,
                                float* residual, int lines, int pixels, int slices)
{
    __shared__ __align__(128) float ah[32 * PITCH], al[32 * PITCH], bh[32 * PITCH], bl[32 * PITCH];
    __shared__ __align__(128) float sums[32 * PITCH];
    const int wide = (slices + 31) / 32;
    const int slice0 = blockIdx.x % wide * 32, line0 = blockIdx.x / wide * 32;
    const int warp = threadIdx.x / 32, r0 = warp / 2 * 16, c0 = warp % 2 * 16;
    const int column = threadIdx.x % 32;
    float plain[8] = {};
    // Over a long path the lower digits average out.
    const bool fine = pixels <= 2048;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> whole, part;
    wmma::fill_fragment(whole, 0.0f);
    for (int k = 0; k < pixels; k += 32) {
        int odd = 0;
        for (int r = warp; r < 32; r += 4) {
            const bool in_a = line0 + r < lines && k + column < pixels, in_b = slice0 + column < slices && k + r < pixels;
            const float a = in_a ? path[(size_t)(line0 + r) * pixels + k + column] : 0.0f;
            const float b = in_b ? volume[(size_t)(k + r) * slices + slice0 + column] : 0.0f;
            odd |= !isfinite(a) || !isfinite(b);
            split(a, ah[r * PITCH + column], al[r * PITCH + column]);
            split(b, bh[r * PITCH + column], bl[r * PITCH + column]);
        }
        // Where something is infinite or not a number its parts would not add up: such a tile goes the plain way.
        if (__syncthreads_or(odd)) {
            const int count = min(32, pixels - k);
            for (int i = 0; i < 8; i++) {
                const int line = line0 + warp + 4 * i, slice = slice0 + column;
                if (line < lines && slice < slices) {
                    for (int j = 0; j < count; j++) {
                        plain[i] += path[(size_t)line * pixels + k + j] * volume[(size_t)(k + j) * slices + slice];
                    }
                }
            }
        } else {
            wmma::fill_fragment(part, 0.0f);
            for (int j = 0; j < 32; j += 8) {
                wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> ha, la;
                wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> hb, lb;
                wmma::load_matrix_sync(ha, ah + r0 * PITCH + j, PITCH);
                wmma::load_matrix_sync(hb, bh + j * PITCH + c0, PITCH);
                if (fine) {
                    wmma::load_matrix_sync(la, al + r0 * PITCH + j, PITCH);
                    wmma::load_matrix_sync(lb, bl + j * PITCH + c0, PITCH);
                    wmma::mma_sync(part, la, hb, part);
                    wmma::mma_sync(part, ha, lb, part);
                }
                wmma::mma_sync(part, ha, hb, part);
            }
            for (int i = 0; i < part.num_elements; i++) {
                whole.x[i] += part.x[i];
            }
        }
        __syncthreads();
    }
    wmma::store_matrix_sync(sums + r0 * PITCH + c0, whole, PITCH, wmma::mem_row_major);
    __syncthreads();
    for (int i = 0; i < 8; i++) {
        const int r = warp + 4 * i, line = line0 + r, slice = slice0 + column;
        if (line < lines && slice < slices) {
            const size_t at = (size_t)line * slices + slice;
            residual[at] = weight[line] * (measured[at] - (sums[r * PITCH + column] + plain[i]));
        }
    }
}
