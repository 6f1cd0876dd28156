#include <cooperative_groups.h>

namespace cg = cooperative_groups;

// Pairwise wins of an election: on how many of the v ballots candidate i is ranked before candidate j.
// rank[c * v + b] is the place that ballot b gives to candidate c; equal places win for neither.
// A cluster of four blocks per pair, each with every fourth piece of the ballots; the first collects the totals
// from the shared memory of all four.
extern "C" __global__ void __cluster_dims__(4, 1, 1) copeland(const unsigned char* rank, int* wins, int v, int m)
{
    __shared__ int total;
    cg::cluster_group cluster = cg::this_cluster();
    int i = blockIdx.y;
    int j = blockIdx.x >> 2;
    int quarter = (int)cluster.block_rank();
    const unsigned char* mine = rank + i * v;
    const unsigned char* theirs = rank + j * v;

    if (threadIdx.x == 0)
        total = 0;
    __syncthreads();

    int count = 0;
    for (int b = quarter * blockDim.x + threadIdx.x; b < v; b += 4 * blockDim.x)
        count += mine[b] < theirs[b] ? 1 : 0;
    count = __reduce_add_sync(0xffffffffu, count);
    if ((threadIdx.x & 31) == 0)
        atomicAdd(&total, count);
    cluster.sync();

    if (quarter == 0 && threadIdx.x == 0) {
        int all = 0;
        for (int k = 0; k < 4; k++)
            all += *cluster.map_shared_rank(&total, k);
        wins[i * m + j] = all;
    }
}
