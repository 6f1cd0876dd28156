// The greedy independent set in order of priority. A node is a member when none of its listed neighbours that come
// before it (smaller priority, or the same and a smaller number) is a member. Lists need not be symmetric.
#include <cuda_runtime.h>
#include <cstdint>

enum { UNDECIDED = 0, MEMBER = 1, OUTSIDE = 2 };

__device__ bool comes_before(const int* prio, int u, int v)
{
    return prio[u] < prio[v] || (prio[u] == prio[v] && u < v);
}

__global__ void sift(const int* nbr, const int* prio, int* earlier, int* length, int n, int deg)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    int k = 0;
    for (int j = 0; j < deg; j++) {
        int u = nbr[(size_t)v * deg + j];
        if (comes_before(prio, u, v)) earlier[(size_t)v * deg + k++] = u;
    }
    length[v] = k;
}

__global__ void decide(const int* earlier, const int* length, const uint8_t* state, uint8_t* next, int* left, int n, int deg)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    uint8_t s = state[v];
    if (s == UNDECIDED) {
        bool waits = false, beaten = false;
        for (int j = 0; j < length[v]; j++) {
            uint8_t t = state[earlier[(size_t)v * deg + j]];
            if (t == MEMBER) beaten = true;
            if (t == UNDECIDED) waits = true;
        }
        if (beaten) s = OUTSIDE;
        else if (!waits) s = MEMBER;
        else atomicOr(left, 1);
    }
    next[v] = s;
}

__global__ void write_members(const uint8_t* state, uint8_t* member, int n)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n) member[v] = state[v] == MEMBER;
}

void luby(const int* nbr, const int* prio, uint8_t* member, int n, int deg)
{
    uint8_t *state, *next;
    int *left, *earlier, *length;
    cudaMalloc(&earlier, (size_t)n * deg * sizeof(int));
    cudaMalloc(&length, (size_t)n * sizeof(int));
    cudaMalloc(&state, n);
    cudaMalloc(&next, n);
    cudaMalloc(&left, sizeof(int));
    cudaMemset(state, UNDECIDED, n);
    int threads = 256, blocks = (n + threads - 1) / threads;
    sift<<<blocks, threads>>>(nbr, prio, earlier, length, n, deg);
    int more = 1;
    while (more) {
        cudaMemset(left, 0, sizeof(int));
        decide<<<blocks, threads>>>(earlier, length, state, next, left, n, deg);
        cudaMemcpy(&more, left, sizeof(int), cudaMemcpyDeviceToHost);
        uint8_t* swap = state;
        state = next;
        next = swap;
    }
    write_members<<<blocks, threads>>>(state, member, n);
    cudaFree(state);
    cudaFree(next);
    cudaFree(left);
    cudaFree(earlier);
    cudaFree(length);
}
