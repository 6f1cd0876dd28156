#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void rowsum(const float* x, float* out, int rows, int cols) {
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    int r = blockIdx.x * 8 + warp.meta_group_rank();
    if (r >= rows) return;
    float s = 0.f;
    for (int c = warp.thread_rank(); c < cols; c += 32) s += x[(size_t)r * cols + c];
    s = cg::reduce(warp, s, cg::plus<float>());
    if (warp.thread_rank() == 0) out[r] = s;
}
