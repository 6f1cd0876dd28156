#include <cooperative_groups.h>

namespace cg = cooperative_groups;

// Each warp writes its sum into both blocks; after that nothing of the other is touched, so nobody
// has to wait at the end. Up to eight floats of a thread stay in registers.
__global__ void __cluster_dims__(2, 1, 1) spherize(const float* x, float* y, int cols) {
    __shared__ float part[16];
    cg::cluster_group pair = cg::this_cluster();
    int t = threadIdx.x, rank = pair.block_rank(), first = rank * 256 + t;
    size_t row = (size_t)(blockIdx.x / 2) * cols;
    float kept[8], s = 0.f;
#pragma unroll
    for (int k = 0; k < 8; ++k) {
        int j = first + 512 * k;
        kept[k] = j < cols ? x[row + j] : 0.f;
        s = fmaf(kept[k], kept[k], s);
    }
    for (int j = first + 4096; j < cols; j += 512) s = fmaf(x[row + j], x[row + j], s);
    for (int d = 16; d > 0; d /= 2) s += __shfl_down_sync(0xffffffffu, s, d);
    pair.sync();
    if (t % 32 < 2) {
        s = __shfl_sync(3u, s, 0);
        pair.map_shared_rank(part, t % 32)[rank * 8 + t / 32] = s;
    }
    pair.sync();
    float sum = 0.f;
#pragma unroll
    for (int k = 0; k < 16; ++k) sum += part[k];
    float scale = sum > 0.f ? 1.f / sqrtf(sum) : 0.f;
#pragma unroll
    for (int k = 0; k < 8; ++k)
        if (first + 512 * k < cols) y[row + first + 512 * k] = kept[k] * scale;
    for (int j = first + 4096; j < cols; j += 512) y[row + j] = x[row + j] * scale;
}
