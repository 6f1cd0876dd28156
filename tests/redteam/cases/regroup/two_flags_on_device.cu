// Connected components of a graph given as m edges on n vertices (endpoints are taken modulo n):
// group[v] is the smallest vertex that v is connected with. Labels sink along edges and are shortcut until nothing moves.
#include <cuda_runtime.h>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

#define THREADS 256

__device__ int moved[2];

// The whole iteration in one cooperative launch. Round r uses flag r % 2 and clears that of round r + 1.
__global__ void __launch_bounds__(THREADS) settle_groups(const int* a, const int* b, int* group, int n, int m)
{
    cg::grid_group grid = cg::this_grid();
    const int t0 = blockIdx.x * THREADS + threadIdx.x, step = gridDim.x * THREADS;
    for (int v = t0; v < n; v += step) group[v] = v;
    if (t0 == 0) moved[0] = 0;
    grid.sync();
    for (int r = 0; ; r = (r + 1) % 2) {
        if (t0 == 0) moved[(r + 1) % 2] = 0;
        bool mine = false;
        for (int e = t0; e < m; e += step) {
            const unsigned int u = (unsigned int)a[e] % (unsigned int)n, v = (unsigned int)b[e] % (unsigned int)n;
            const int gu = __ldcg(&group[u]), gv = __ldcg(&group[v]);
            if (gu < gv) { atomicMin(&group[v], gu); atomicMin(&group[gv], gu); mine = true; }
            if (gv < gu) { atomicMin(&group[u], gv); atomicMin(&group[gu], gv); mine = true; }
        }
        grid.sync();
        for (int v = t0; v < n; v += step) {
            const int g = __ldcg(&group[v]), gg = __ldcg(&group[g]);
            if (gg < g) { atomicMin(&group[v], gg); mine = true; }
        }
        if (mine) atomicExch(&moved[r], 1);
        grid.sync();
        if (!__ldcg(&moved[r])) break;
    }
}

extern "C" void regroup(const int* a, const int* b, int* group, int n, int m)
{
    static int resident = 0;
    if (!resident) {
        int device, processors, each;
        cudaGetDevice(&device);
        cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, settle_groups, THREADS, 0);
        resident = processors * each;
    }
    void* args[] = { &a, &b, &group, &n, &m };
    cudaLaunchCooperativeKernel((void*)settle_groups, dim3(resident), dim3(THREADS), args, 0, 0);
}
