#include <cooperative_groups.h>

namespace cg = cooperative_groups;

// Each block comes to one sum, and reads that of the other. Neither leaves before it was read.
__global__ void __cluster_dims__(2, 1, 1) spherize(const float* x, float* y, int cols) {
    __shared__ float part[8], mine;
    cg::cluster_group pair = cg::this_cluster();
    int t = threadIdx.x, rank = pair.block_rank(), first = rank * 256 + t;
    size_t row = (size_t)(blockIdx.x / 2) * cols;
    float s = 0.f;
    for (int j = first; j < cols; j += 512) s = fmaf(x[row + j], x[row + j], s);
    for (int d = 16; d > 0; d /= 2) s += __shfl_down_sync(0xffffffffu, s, d);
    if (t % 32 == 0) part[t / 32] = s;
    __syncthreads();
    if (t == 0) {
        float all = 0.f;
        for (int k = 0; k < 8; ++k) all += part[k];
        mine = all;
    }
    __syncthreads();
    float sum = mine + *pair.map_shared_rank(&mine, rank ^ 1);
    float scale = sum > 0.f ? 1.f / sqrtf(sum) : 0.f;
    for (int j = first; j < cols; j += 512) y[row + j] = x[row + j] * scale;
    pair.sync();
}
