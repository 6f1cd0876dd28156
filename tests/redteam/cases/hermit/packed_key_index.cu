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
    // one comparison of (rank, index): no two keys are equal
    long long a = ((long long)rank[u] << 32) | (unsigned)u;
    long long b = ((long long)rank[v] << 32) | (unsigned)v;
    return a > b;
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
    begin<<<vb, 256>>>(state, n);
    do {
        cudaMemsetAsync(waits, 0, sizeof(int) * n);
        cudaMemsetAsync(more, 0, sizeof(int));
        contend<<<eb, 256>>>(from, to, m, n, rank, state, waits);
        elect<<<vb, 256>>>(state, waits, n);
        evict<<<eb, 256>>>(from, to, m, n, state);
        remain<<<vb, 256>>>(state, n, more);
        cudaMemcpy(&any, more, sizeof(int), cudaMemcpyDeviceToHost);
    } while (any);
    cudaMemsetAsync(count, 0, sizeof(int));
    tally<<<vb, 256>>>(state, n, count);
    cudaFree(waits);
    cudaFree(more);
}
