#include <cuda_runtime.h>

// Where each node of a functional graph ends up: the steps until a cycle, the cycle's length and
// its least node.
__global__ void leap(const int* from, int* to, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[from[i]];
}

__global__ void mark(const int* far, int* on, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) on[far[i]] = 1;
}

__global__ void round_trip(const int* next, const int* on, int* tail, int* cycle, int* least, int n)
{
    // of a cycle's nodes the least alone comes back to itself, and writes for all of them
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || !on[i]) return;
    int length = 1;
    int node = next[i];
    while (node > i) {
        node = next[node];
        ++length;
    }
    if (node != i) return;
    do {
        tail[node] = 0;
        cycle[node] = length;
        least[node] = i;
        node = next[node];
    } while (node != i);
}

__global__ void begin(const int* next, const int* on, int* ahead, int* steps, int n)
{
    // how far ahead, and who is there; who is on a cycle stays
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    ahead[i] = on[i] ? i : next[i];
    steps[i] = on[i] ? 0 : 1;
}

__global__ void extend(int* ahead, int* steps, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int there = ahead[i];
    int more = steps[there];
    int then = ahead[there];
    steps[i] += more;
    ahead[i] = then;
}

__global__ void finish(const int* ahead, const int* steps, const int* on, int* tail, int* cycle, int* least, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || on[i]) return;
    tail[i] = steps[i];
    cycle[i] = cycle[ahead[i]];
    least[i] = least[ahead[i]];
}

void rho(const int* next, int* tail, int* cycle, int* least, int n)
{
    int grid = (n + 127) / 128;
    int* space;
    cudaMallocAsync(&space, 3 * sizeof(int) * (size_t)n, 0);
    int* on = space + 2 * (size_t)n;
    cudaMemsetAsync(on, 0, sizeof(int) * (size_t)n, 0);
    const int* from = next;
    for (int steps = 1, k = 0; steps < n; steps *= 2, ++k) {
        int* to = space + (size_t)(k % 2) * n;
        leap<<<grid, 128>>>(from, to, n);
        from = to;
    }
    mark<<<grid, 128>>>(from, on, n);
    round_trip<<<grid, 128>>>(next, on, tail, cycle, least, n);
    int* ahead = space;
    int* far = space + (size_t)n;
    begin<<<grid, 128>>>(next, on, ahead, far, n);
    for (int steps = 1; steps < n; steps *= 2) extend<<<grid, 128>>>(ahead, far, n);
    finish<<<grid, 128>>>(ahead, far, on, tail, cycle, least, n);
    cudaFreeAsync(space, 0);
}
