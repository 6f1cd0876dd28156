#include <cuda_runtime.h>

// Tiles of 32 x 32 in plain float, eight rows a thread. A digit becomes a float by being put into
// the last bits of 2^23, which is exact.
#define GROUP 128

extern "C" __global__ void w4gemm(const float* x, const unsigned* weight, const float* scale,
                                  const unsigned char* zero, float* y, int m, int n, int k) {
    __shared__ float a[32][32];
    __shared__ float b[32][33];
    int lane = threadIdx.x & 31;
    int warp = threadIdx.x / 32;
    int column = blockIdx.x * 32 + lane;
    int top = blockIdx.y * 32;
    int words = (k + 7) / 8;
    int groups = (k + GROUP - 1) / GROUP;
    int end = k;
    float total[8], sum[8];
    for (int r = 0; r < 8; r++) {
        total[r] = sum[r] = 0.0f;
    }
    for (int from = 0; from < end; from += 32) {
        int g = from / GROUP;
        __syncthreads();
        for (int r = warp; r < 32; r += 4) {
            int i = from + lane;
            a[r][lane] = top + r < m && i < end ? x[(size_t)(top + r) * k + i] : 0.0f;
        }
        // Eight columns a warp, four lanes a column, a word a lane.
        int c = warp * 8 + lane / 4;
        int there = blockIdx.x * 32 + c;
        int at = from / 8 + lane % 4;
        unsigned word = 0;
        float offset = 0.0f;
        if (there < n && at < words) {
            word = weight[(size_t)there * words + at];
            offset = 8388608.0f + (float)zero[(size_t)there * groups + g];
        }
#pragma unroll
        for (int d = 0; d < 8; d++) {
            float digit = __uint_as_float(0x4b000000u | (word >> (4 * d) & 15u)) - offset;
            int i = lane % 4 * 8 + d;
            b[c][i] = there < n && from + i < end ? digit : 0.0f;
        }
        __syncthreads();
#pragma unroll 8
        for (int i = 0; i < 32; i++) {
            float digit = b[lane][i];
            for (int r = 0; r < 8; r++) {
                sum[r] += a[8 * warp + r][i] * digit;
            }
        }
        if ((from + 32) % GROUP == 0 || from + 32 >= end) {
            float factor = column < n ? scale[(size_t)column * groups + g] : 0.0f;
            for (int r = 0; r < 8; r++) {
                total[r] += sum[r] * factor;
                sum[r] = 0.0f;
            }
        }
    }
    for (int r = 0; r < 8; r++) {
        int row = top + 8 * warp + r;
        if (row < m && column < n) {
            y[(size_t)row * n + column] = total[r];
        }
    }
}
