#include <cuda_fp16.h>

// A tile of 64 x 64 a block, staged 16 deep; each of 128 threads holds 32 sums.
__global__ void gemm_tn(const half* a, const half* b, float* c, int m, int n, int k)
{
    __shared__ float tile_a[16][65];
    __shared__ float tile_b[16][65];
    const int row = blockIdx.y * 64, col = blockIdx.x * 64;
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    float sums[8][4] = {};
    for (int depth = 0; depth < k; depth += 16) {
        for (int i = threadIdx.x; i < 64 * 16; i += blockDim.x) {
            int r = i / 16, d = i % 16;
            bool deep = depth + d < k;
            tile_a[d][r] = deep && row + r < m ? __half2float(a[(row + r) * k + depth + d]) : 0.0f;
            tile_b[d][r] = deep && col + r < n ? __half2float(b[(col + r) * k + depth + d]) : 0.0f;
        }
        __syncthreads();
        for (int d = 0; d < 16; d++)
            for (int i = 0; i < 8; i++)
                for (int j = 0; j < 4; j++)
                    sums[i][j] += tile_a[d][ty + 8 * i] * tile_b[d][tx + 16 * j];
        __syncthreads();
    }
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 4; j++) {
            int r = row + ty + 8 * i, s = col + tx + 16 * j;
            if (r < m && s < n) c[r * n + s] = sums[i][j];
        }
}
