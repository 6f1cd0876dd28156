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
__global__ void contend(const int* from, const int* to, int m, int n, const int* rank, const int* state, int* waits)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= m) return;
    int u = from[e] % n, v = to[e] % n;
    if (u == v || state[u] != OPEN || state[v] != OPEN) return;
    waits[ahead(rank, u, v) ? v : u] = 1;
}

__global__ void elect(int* state, const int* waits, int n)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n && state[v] == OPEN && !waits[v]) state[v] = 1;
}

__global__ void evict(const int* from, const int* to, int m, int n, int* state)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= m) return;
    int u = from[e] % n, v = to[e] % n;
    if (u == v) return;
    if (state[u] == 1 && state[v] == OPEN) state[v] = 0;
    if (state[v] == 1 && state[u] == OPEN) state[u] = 0;
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
    int *waits = nullptr;
    cudaMalloc(&waits, sizeof(int) * n);
    begin<<<vb, 256>>>(state, n);
    // The rounds needed grow with log n; twice the number of bits of n and 32 more leave ample room, and nothing has to
    // come back to the host.
    int rounds = 32;
    for (int k = n; k > 0; k >>= 1) rounds += 2;
    for (int k = 0; k < rounds; ++k) {
        cudaMemsetAsync(waits, 0, sizeof(int) * n);
        contend<<<eb, 256>>>(from, to, m, n, rank, state, waits);
        elect<<<vb, 256>>>(state, waits, n);
        evict<<<eb, 256>>>(from, to, m, n, state);
    }
    cudaMemsetAsync(count, 0, sizeof(int));
    tally<<<vb, 256>>>(state, n, count);
    cudaFree(waits);
}
