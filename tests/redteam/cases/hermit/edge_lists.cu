// Hermits: the greedy independent set of an edge list. Vertices settle in order of rank (larger first, the lower index
// first among equals); one that has a settled neighbour is left out. state is 1 for settled, 0 for left out.
#include <cuda_runtime.h>

#define OPEN 2

__global__ void begin(int* state, int n)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n) state[v] = OPEN;
}

__device__ bool ahead(const int* rank, int u, int v)
{
    int p = rank[u], q = rank[v];
    return p > q || (p == q && u < v);
}

// the lesser end of each open edge has to wait
// and the edge is kept for the next round
__global__ void contend(const int2* edge, const int* held, const int* rank, const int* state, int* waits, int2* next,
                        int* kept)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= *held) return;
    int2 uv = edge[e];
    if (state[uv.x] != OPEN || state[uv.y] != OPEN) return;
    waits[ahead(rank, uv.x, uv.y) ? uv.y : uv.x] = 1;
    next[atomicAdd(kept, 1)] = uv;
}

__global__ void pack(const int* from, const int* to, int m, int n, int2* edge, int* held)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= m) return;
    int u = from[e] % n, v = to[e] % n;
    if (u != v) edge[atomicAdd(held, 1)] = make_int2(u, v);
}

__global__ void elect(int* state, const int* waits, int n)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n && state[v] == OPEN && !waits[v]) state[v] = 1;
}

__global__ void evict(const int2* edge, const int* held, int* state)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= *held) return;
    int u = edge[e].x, v = edge[e].y;
    if (state[u] == 1 && state[v] == OPEN) state[v] = 0;
    if (state[v] == 1 && state[u] == OPEN) state[u] = 0;
}

__global__ void remain(const int* state, int n, int* more)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n && state[v] == OPEN) *more = 1;
}

__global__ void tally(const int* state, int n, int* count)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned in = __ballot_sync(0xffffffffu, v < n && state[v] == 1);
    if ((threadIdx.x & 31) == 0 && in) atomicAdd(count, __popc(in));
}

extern "C" void hermit(const int* from, const int* to, const int* rank, int* state, int* count, int n, int m)
{
    int vb = (n + 255) / 256, eb = (m + 255) / 256;
    int *waits = nullptr, *more = nullptr, any = 0;
    cudaMalloc(&waits, sizeof(int) * n);
    cudaMalloc(&more, sizeof(int));
    // two lists of edges in turn, and their lengths; an edge with an end decided is of no more use
    int2* list[2];
    int* held;
    cudaMalloc(&list[0], sizeof(int2) * m);
    cudaMalloc(&list[1], sizeof(int2) * m);
    cudaMalloc(&held, 2 * sizeof(int));
    cudaMemsetAsync(held, 0, 2 * sizeof(int));
    pack<<<eb, 256>>>(from, to, m, n, list[0], held);
    int now = 0;
    begin<<<vb, 256>>>(state, n);
    do {
        cudaMemsetAsync(waits, 0, sizeof(int) * n);
        cudaMemsetAsync(more, 0, sizeof(int));
        cudaMemsetAsync(held + (now ^ 1), 0, sizeof(int));
        contend<<<eb, 256>>>(list[now], held + now, rank, state, waits, list[now ^ 1], held + (now ^ 1));
        now ^= 1;
        elect<<<vb, 256>>>(state, waits, n);
        evict<<<eb, 256>>>(list[now], held + now, state);
        remain<<<vb, 256>>>(state, n, more);
        cudaMemcpy(&any, more, sizeof(int), cudaMemcpyDeviceToHost);
    } while (any);
    cudaMemsetAsync(count, 0, sizeof(int));
    tally<<<vb, 256>>>(state, n, count);
    cudaFree(waits);
    cudaFree(more);
    cudaFree(list[0]);
    cudaFree(list[1]);
    cudaFree(held);
}
