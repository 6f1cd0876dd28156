#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void compact(const int* x, int* out, int* count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || x[i] <= 50) return;
    auto kept = cg::coalesced_threads();
    int base = 0;
    if (kept.thread_rank() == 0) base = atomicAdd(count, (int)kept.size());
    out[kept.shfl(base, 0) + kept.thread_rank()] = x[i] + i * 128;
}
