#include <cuda_fp16.h>
#include <mma.h>

// The next commands of deformable mirrors, in place: what was there leaks away, and what the sensors' slopes ask for by
// the control matrix is added.
// By tensor cores: a number is a half and a rest of half precision, 22 binary places, and three of the four products of
// those count.
using namespace nvcuda;

__global__ void wavefront(const float* slope, const float* control, float* command, int mirrors, int sensors,
                          int actuators, float leak, float gain) {
    __shared__ __align__(32) float left[32][40];
    __shared__ __align__(32) __half high[2][32][40], low[2][32][40];
    int thread = threadIdx.x, warp = thread / 32, a0 = blockIdx.x * 32, m0 = blockIdx.y * 32;
    int row = warp / 2 * 16, column = warp % 2 * 16;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int first = 0; first < sensors; first += 32) {
        for (int i = thread; i < 1024; i += blockDim.x) {
            int y = i / 32, x = i % 32, m = m0 + y, s = first + x, from = first + y, a = a0 + x;
            float v = m < mirrors && s < sensors ? slope[(size_t)m * sensors + s] : 0;
            float u = from < sensors && a < actuators ? control[(size_t)from * actuators + a] : 0;
            high[0][y][x] = __float2half(v);
            high[1][y][x] = __float2half(u);
            low[0][y][x] = __float2half(v - __half2float(high[0][y][x]));
            low[1][y][x] = __float2half(u - __half2float(high[1][y][x]));
        }
        __syncthreads();
        for (int k = 0; k < 32; k += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a, rest;
            wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> b, other;
            wmma::load_matrix_sync(a, &high[0][row][k], 40);
            wmma::load_matrix_sync(rest, &low[0][row][k], 40);
            wmma::load_matrix_sync(b, &high[1][k][column], 40);
            wmma::load_matrix_sync(other, &low[1][k][column], 40);
            wmma::mma_sync(sum, rest, b, sum);
            wmma::mma_sync(sum, a, other, sum);
            wmma::mma_sync(sum, a, b, sum);
        }
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
