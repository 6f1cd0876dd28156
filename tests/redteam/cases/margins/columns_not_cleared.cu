#include <cuda_runtime.h>

// 32 rows a block, once through the matrix: rows by shuffles, columns by atomics.
__global__ void both(const float* m, float* row, float* col, int rows, int cols) {
    __shared__ float part[8][33];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, r0 = blockIdx.x * 32 + warp * 4;
    float rest[4] = {};
    for (int c0 = 0; c0 < cols; c0 += 32) {
        int c = c0 + lane;
        float sum = 0.f;
        for (int k = 0; k < 4; ++k) {
            float v = c < cols && r0 + k < rows ? m[(size_t)(r0 + k) * cols + c] : 0.f;
            rest[k] += v;
            sum += v;
        }
        part[warp][lane] = sum;
        __syncthreads();
        sum = 0.f;
        if (warp == 0) {
            for (int k = 0; k < 8; ++k) sum += part[k][lane];
            if (c < cols) atomicAdd(&col[c], sum);
        }
        __syncthreads();
    }
    for (int k = 0; k < 4; ++k) {
        for (int s = 16; s; s /= 2) rest[k] += __shfl_xor_sync(0xffffffffu, rest[k], s);
        if (lane == 0 && r0 + k < rows) row[r0 + k] = rest[k];
    }
}

// The sums of a matrix along its rows and along its columns.
extern "C" void margins(const float* m, float* row, float* col, int rows, int cols) {
    both<<<(rows + 31) / 32, 256>>>(m, row, col, rows, cols);
}
