#include <cooperative_groups.h>

namespace cg = cooperative_groups;

// Rows brought to length one; the two blocks of a cluster share a row.
__global__ void __cluster_dims__(2, 1, 1) spherize(const float* x, float* y, int cols) {
    __shared__ float part[256];
    cg::cluster_group pair = cg::this_cluster();
    int t = threadIdx.x, first = pair.block_rank() * 256 + t;
    size_t row = (size_t)(blockIdx.x / 2) * cols;
    float s = 0.f;
    for (int j = first; j < cols; j += 512) s += x[row + j] * x[row + j];
    part[t] = s;
    pair.sync();
    float sum = 0.f;
    for (int b = 0; b < 2; ++b) {
        const float* theirs = pair.map_shared_rank(part, b);
        for (int k = 0; k < 256; ++k) sum += theirs[k];
    }
    pair.sync();
    float scale = sum > 0.f ? 1.f / sqrtf(sum) : 0.f;
    for (int j = first; j < cols; j += 512) y[row + j] = x[row + j] * scale;
}
