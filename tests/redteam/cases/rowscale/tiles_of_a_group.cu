#include <cuda_runtime.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void rowscale_kernel(const float* x, float* y, int rows, int cols) {
    auto part = cg::tiled_partition<16>(cg::this_thread_block());
    int r = blockIdx.x * 16 + part.meta_group_rank();
    if (r >= rows) return;
    const float* in = x + (size_t)r * cols;
    float s = 0.f;
    for (int c = part.thread_rank(); c < cols; c += 16) s = fmaf(in[c], in[c], s);
    s = cg::reduce(part, s, cg::plus<float>());
    float f = rsqrtf(s / cols + 1e-4f);
    for (int c = part.thread_rank(); c < cols; c += 16) y[(size_t)r * cols + c] = in[c] * f;
}
extern "C" void rowscale(const float* x, float* y, int rows, int cols) {
    dim3 grid((rows + 15) / 16), block(256);
    rowscale_kernel<<<grid, block>>>(x, y, rows, cols);
}
