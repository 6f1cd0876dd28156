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
    // The host looks at a round's flag only after the next round is under way, so the device never waits for it.
    static int* moved = nullptr;
    static int* seen = nullptr;
    static cudaEvent_t done[2];
    if (!moved) {
        cudaMalloc(&moved, 2 * sizeof(int));
        cudaMallocHost(&seen, 2 * sizeof(int));
        cudaEventCreateWithFlags(&done[0], cudaEventDisableTiming);
        cudaEventCreateWithFlags(&done[1], cudaEventDisableTiming);
    }
    const int vblocks = (n + THREADS - 1) / THREADS, eblocks = (m + THREADS - 1) / THREADS;
    start_labels<<<vblocks, THREADS>>>(group, n);
    for (int r = 0; ; ++r) {
        const int k = r & 1;
        cudaMemsetAsync(moved + k, 0, sizeof(int), 0);
        sink<<<eblocks, THREADS>>>(a, b, group, n, m, moved + k);
        shortcut<<<vblocks, THREADS>>>(group, n, moved + k);
        cudaMemcpyAsync(seen + k, moved + k, sizeof(int), cudaMemcpyDeviceToHost, 0);
        cudaEventRecord(done[k], 0);
        if (r == 0) continue;
        if (cudaEventSynchronize(done[1 - k]) != cudaSuccess) return;
        if (!*(volatile int*)(seen + (1 - k))) break;
    }
    cudaEventSynchronize(done[0]);
    cudaEventSynchronize(done[1]);
}
