// Connected components of a graph given as m edges on n vertices (endpoints are taken modulo n):
// group[v] is the smallest vertex that v is connected with. Labels sink along edges and are shortcut until nothing moves.
#include <cuda_runtime.h>

#define THREADS 256

__global__ void start_labels(int* group, int n)
{
    const int v = blockIdx.x * THREADS + threadIdx.x;
    if (v < n) group[v] = v;
}

__global__ void sink(const int* a, const int* b, int* group, int n, int m, int* moved)
{
    const int e = blockIdx.x * THREADS + threadIdx.x;
    if (e >= m) return;
    const unsigned int u = (unsigned int)a[e] % (unsigned int)n, v = (unsigned int)b[e] % (unsigned int)n;
    const int gu = __ldcg(&group[u]), gv = __ldcg(&group[v]);
    if (gu < gv) { atomicMin(&group[v], gu); atomicMin(&group[gv], gu); *moved = 1; }
    if (gv < gu) { atomicMin(&group[u], gv); atomicMin(&group[gu], gv); *moved = 1; }
}

__global__ void shortcut(int* group, int n, int* moved)
{
    const int v = blockIdx.x * THREADS + threadIdx.x;
    if (v >= n) return;
    const int g = __ldcg(&group[v]), gg = __ldcg(&group[g]);
    if (gg < g) { atomicMin(&group[v], gg); *moved = 1; }
}

extern "C" void regroup(const int* a, const int* b, int* group, int n, int m)
{
    static int* moved = nullptr;
    if (!moved) cudaMalloc(&moved, sizeof(int));
    const int vblocks = (n + THREADS - 1) / THREADS, eblocks = (m + THREADS - 1) / THREADS;
    start_labels<<<vblocks, THREADS>>>(group, n);
    int more = 1;
    while (more) {
        cudaMemsetAsync(moved, 0, sizeof(int), 0);
        sink<<<eblocks, THREADS>>>(a, b, group, n, m, moved);
        shortcut<<<vblocks, THREADS>>>(group, n, moved);
        if (cudaMemcpy(&more, moved, sizeof(int), cudaMemcpyDeviceToHost) != cudaSuccess) return;
    }
}
