// A round of Boruvka's spanning tree: for each component the lightest edge that leaves it, of equal ones the
// first. Vertices come as hashes; an edge whose weight is not a number is none. -1 where nothing leaves.
// Edge lists are grouped by their first vertex, so that neighbouring lanes often share a component. They bring their
// least down to the first lane of the run, which sends it for all.
#include <cuda_runtime.h>

typedef unsigned long long u64;

// Unsigned numbers in the order of the weights; both zeros are one.
__device__ unsigned rank_of(float w)
{
    unsigned b = __float_as_uint(w + 0.0f);
    return b & 0x80000000u ? ~b : b | 0x80000000u;
}

__global__ void lightest(const int* from, const int* to, const float* weight, const int* part, u64* best, int vertices,
                         int edges)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x % 32;
    bool leaves = false;
    int a = -1, b = -1;
    u64 key = ~0ull;
    if (e < edges) {
        float w = weight[e];
        a = part[from[e] % vertices] % vertices;
        b = part[to[e] % vertices] % vertices;
        leaves = a != b && w == w;
        if (leaves) key = (u64)rank_of(w) << 32 | (unsigned)e;
    }
    if (leaves) atomicMin(&best[b], key);

    int before = __shfl_up_sync(0xffffffffu, a, 1);
    bool leader = lane == 0 || before != a;
    for (int step = 1; step < 32; step *= 2) {
        u64 other = __shfl_down_sync(0xffffffffu, key, step);
        int theirs = __shfl_down_sync(0xffffffffu, a, step);
        if (lane + step < 32 && theirs == a && other < key) key = other;
    }
    if (leaves && leader) atomicMin(&best[a], key);
}

__global__ void take(const u64* best, int* edge, int vertices)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < vertices) edge[v] = best[v] == ~0ull ? -1 : (int)(unsigned)best[v];
}

extern "C" void boruvka(const int* from, const int* to, const float* weight, const int* part, int* edge, int vertices,
                        int edges)
{
    u64* best;
    cudaMalloc(&best, sizeof(u64) * vertices);
    cudaMemset(best, 0xff, sizeof(u64) * vertices);
    if (edges > 0) lightest<<<(edges + 255) / 256, 256>>>(from, to, weight, part, best, vertices, edges);
    take<<<(vertices + 255) / 256, 256>>>(best, edge, vertices);
    cudaFree(best);
}
