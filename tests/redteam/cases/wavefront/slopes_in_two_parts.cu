#include <mma.h>

// The next commands of deformable mirrors, in place: what was there leaks away, and what the sensors' slopes ask for by
// the control matrix is added.
// By tensor cores: a number is one of their 10 binary places and a rest of 10 more, and three of the four products of
// those count.
using namespace nvcuda;

__global__ void wavefront(const float* slope, const float* control, float* command, int mirrors, int sensors,
                          int actuators, float leak, float gain) {
    __shared__ __align__(32) float left[32][40], right[32][40];
    int thread = threadIdx.x, warp = thread / 32, a0 = blockIdx.x * 32, m0 = blockIdx.y * 32;
    int row = warp / 2 * 16, column = warp % 2 * 16;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int first = 0; first < sensors; first += 32) {
        for (int i = thread; i < 1024; i += blockDim.x) {
            int y = i / 32, x = i % 32, m = m0 + y, s = first + x, from = first + y, a = a0 + x;
            left[y][x] = m < mirrors && s < sensors ? slope[(size_t)m * sensors + s] : 0;
            right[y][x] = from < sensors && a < actuators ? control[(size_t)from * actuators + a] : 0;
        }
        __syncthreads();
        wmma::fragment<wmma::accumulator, 16, 16, 8, float> part;
        wmma::fill_fragment(part, 0.0f);
        for (int k = 0; k < 32; k += 8) {
            wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> a, rest;
            wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> b, other;
            wmma::load_matrix_sync(a, &left[row][k], 40);
            wmma::load_matrix_sync(b, &right[k][column], 40);
            for (int i = 0; i < a.num_elements; ++i) {
                float v = a.x[i];
                a.x[i] = wmma::__float_to_tf32(v);
                rest.x[i] = wmma::__float_to_tf32(v - a.x[i]);
            }
            for (int i = 0; i < b.num_elements; ++i) {
                float v = b.x[i];
                b.x[i] = wmma::__float_to_tf32(v);
                other.x[i] = wmma::__float_to_tf32(v - b.x[i]);
            }
            wmma::mma_sync(part, rest, b, part);
            wmma::mma_sync(part, a, other, part);
            wmma::mma_sync(part, a, b, part);
        }
        for (int i = 0; i < sum.num_elements; ++i) sum.x[i] += part.x[i];
        __syncthreads();
    }
    wmma::store_matrix_sync(&left[row][column], sum, 40, wmma::mem_row_major);
    __syncthreads();
    for (int i = thread; i < 1024; i += blockDim.x) {
        int y = i / 32, x = i % 32;
        if (m0 + y >= mirrors || a0 + x >= actuators) continue;
        size_t at = (size_t)(m0 + y) * actuators + a0 + x;
        command[at] = leak * command[at] + gain * left[y][x];
    }
}
