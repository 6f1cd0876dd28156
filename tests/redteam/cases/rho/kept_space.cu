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
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || !on[i]) return;
    int length = 1;
    int low = i;
    for (int node = next[i]; node != i && length < n; node = next[node]) {
        low = min(low, node);
        ++length;
    }
    tail[i] = 0;
    cycle[i] = length;
    least[i] = low;
}

__global__ void approach(const int* next, const int* on, int* tail, int* cycle, int* least, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || on[i]) return;
    int node = next[i];
    int steps = 1;
    while (!on[node]) {
        node = next[node];
        ++steps;
    }
    tail[i] = steps;
    cycle[i] = cycle[node];
    least[i] = least[node];
}

void rho(const int* next, int* tail, int* cycle, int* least, int n)
{
    int grid = (n + 127) / 128;
    // the working space is kept for the next call, and grows with the largest
    static int* space = nullptr;
    static int room = 0;
    if (n > room) {
        if (space) cudaFree(space);
        cudaMalloc(&space, 3 * sizeof(int) * (size_t)n);
        cudaMemset(space, 0, 3 * sizeof(int) * (size_t)n);
        room = n;
    }
    int* on = space + 2 * (size_t)room;
    // after as many steps as there are nodes everybody is on a cycle, and all of a cycle are reached
    const int* from = next;
    for (int steps = 1, k = 0; steps < n; steps *= 2, ++k) {
        int* to = space + (size_t)(k % 2) * n;
        leap<<<grid, 128>>>(from, to, n);
        from = to;
    }
    mark<<<grid, 128>>>(from, on, n);
    round_trip<<<grid, 128>>>(next, on, tail, cycle, least, n);
    approach<<<grid, 128>>>(next, on, tail, cycle, least, n);
}
