// The greedy independent set in order of priority. A node is a member when none of its listed neighbours that come
// before it (smaller priority, or the same and a smaller number) is a member. Lists need not be symmetric.
#include <cuda_runtime.h>
#include <cstdint>

enum { UNDECIDED = 0, MEMBER = 1, OUTSIDE = 2 };

__device__ bool comes_before(const int* prio, int u, int v)
{
    return prio[u] < prio[v] || (prio[u] == prio[v] && u < v);
}

__global__ void decide(const int* nbr, const int* prio, volatile uint8_t* state, const int* list, int count, int* rest, int* left,
                       int room, int deg)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    int v = list ? list[i] : i;
    bool waits = false, beaten = false;
    for (int j = 0; j < deg; j++) {
        int u = nbr[(size_t)v * deg + j];
        if (!comes_before(prio, u, v)) continue;
        uint8_t t = state[u];
        if (t == MEMBER) beaten = true;
        if (t == UNDECIDED) waits = true;
    }
    if (beaten) state[v] = OUTSIDE;
    else if (!waits) state[v] = MEMBER;
    else {
        int place = atomicAdd(left, 1);
        if (place < room) rest[place] = v;
    }
}

__global__ void write_members(const uint8_t* state, uint8_t* member, int n)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n) member[v] = state[v] == MEMBER;
}

void luby(const int* nbr, const int* prio, uint8_t* member, int n, int deg)
{
    uint8_t* state;
    int *list, *rest, *left;
    int room = n - n / 16;
    cudaMalloc(&state, n);
    cudaMalloc(&list, (size_t)room * sizeof(int));
    cudaMalloc(&rest, (size_t)room * sizeof(int));
    cudaMalloc(&left, sizeof(int));
    cudaMemset(state, UNDECIDED, n);
    int threads = 256, blocks = (n + threads - 1) / threads;
    int count = n, before = n + 1;
    const int* from = nullptr;
    while (count > 0 && count < before) {
        before = count;
        cudaMemset(left, 0, sizeof(int));
        decide<<<(count + threads - 1) / threads, threads>>>(nbr, prio, state, from, count, rest, left, room, deg);
        cudaMemcpy(&count, left, sizeof(int), cudaMemcpyDeviceToHost);
        if (count > room) count = room;
        int* swap = list;
        list = rest;
        rest = swap;
        from = list;
    }
    write_members<<<blocks, threads>>>(state, member, n);
    cudaFree(state);
    cudaFree(list);
    cudaFree(rest);
    cudaFree(left);
}
