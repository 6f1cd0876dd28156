// Connected components of a graph given as m edges on n vertices (endpoints are taken modulo n):
// group[v] is the smallest vertex that v is connected with. One pass of hooking roots below smaller roots, one of flattening.
#include <cuda_runtime.h>

#define THREADS 256

__device__ __forceinline__ int parent_of(const int* group, int v)
{
    return *(const volatile int*)&group[v];
}

// Root of v; parents only ever sink, and atomicMin keeps a late shortcut from undoing an earlier one.
__device__ int root(int* group, int v)
{
    int p = parent_of(group, v);
    while (p != v) {
        const int g = parent_of(group, p);
        if (g != p) atomicMin(&group[v], g);
        v = p;
        p = g;
    }
    return v;
}

__global__ void start_labels(int* group, int n)
{
    const int v = blockIdx.x * THREADS + threadIdx.x;
    if (v < n) group[v] = v;
}

__global__ void hook(const int* a, const int* b, int* group, int n, int m)
{
    const int e = blockIdx.x * THREADS + threadIdx.x;
    if (e >= m) return;
    int u = root(group, (int)((unsigned int)a[e] % (unsigned int)n));
    int v = root(group, (int)((unsigned int)b[e] % (unsigned int)n));
    while (u != v) {
        const int low = u < v ? u : v, high = u < v ? v : u;
        const int seen = atomicCAS(&group[high], high, low);
        if (seen == high) break;
        u = root(group, low);        // somebody else hooked `high` first: go on from where it went
        v = root(group, seen);
    }
}

__global__ void flatten(int* group, int n)
{
    const int v = blockIdx.x * THREADS + threadIdx.x;
    if (v >= n) return;
    int p = parent_of(group, v);
    for (int g = parent_of(group, p); g != p; g = parent_of(group, p)) p = g;
    atomicMin(&group[v], p);
}

extern "C" void regroup(const int* a, const int* b, int* group, int n, int m)
{
    const int vblocks = (n + THREADS - 1) / THREADS, eblocks = (m + THREADS - 1) / THREADS;
    start_labels<<<vblocks, THREADS>>>(group, n);
    hook<<<eblocks, THREADS>>>(a, b, group, n, m);
    flatten<<<vblocks, THREADS>>>(group, n);
}
