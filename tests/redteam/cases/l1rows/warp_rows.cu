// One warp per row on a fixed grid of 1056 warps that walk over the rows; float4 accesses where every row begins at a
// multiple of 16 bytes.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
extern "C" __global__ void __launch_bounds__(256) l1rows(const float* __restrict__ x, float* __restrict__ y, int n, int m)
{
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(cg::this_thread_block());
    int lane = warp.thread_rank();
    bool fours = (m & 3) == 0;
    for (long long line = (long long)blockIdx.x * 8 + (threadIdx.x >> 5); line < n; line += (long long)gridDim.x * 8) {
        const float* row = x + line * m;
        float* to = y + line * m;
        float s = 0.0f;
        if (fours) {
            const float4* v = reinterpret_cast<const float4*>(row);
            for (int c = lane; c < m / 4; c += 32) {
                float4 f = v[c];
                s += (fabsf(f.x) + fabsf(f.y)) + (fabsf(f.z) + fabsf(f.w));
            }
        } else {
            for (int c = lane; c < m; c += 32) s += fabsf(row[c]);
        }
        float total = cg::reduce(warp, s, cg::plus<float>());
        bool live = total > 0.0f;
        if (fours) {
            const float4* v = reinterpret_cast<const float4*>(row);
            float4* o = reinterpret_cast<float4*>(to);
            for (int c = lane; c < m / 4; c += 32) {
                float4 f = v[c];
                o[c] = live ? make_float4(f.x / total, f.y / total, f.z / total, f.w / total) : make_float4(0.f, 0.f, 0.f, 0.f);
            }
        } else {
            for (int c = lane; c < m; c += 32) to[c] = live ? row[c] / total : 0.0f;
        }
    }
}
