// Colours a graph: no two nodes that name each other have one colour. Node u has `degree` slots; slot s names its
// neighbour u + step[u * degree + s], and is empty where that is u itself or no node. A node comes after those of its
// neighbours that rank higher, and takes the least colour that none of them has. Rounds go on until all have one.
#include <cuda_runtime.h>

__device__ unsigned rank_of(unsigned u)
{
    u ^= u >> 16;
    u *= 0x7FEB352Du;
    u ^= u >> 15;
    u *= 0x846CA68Bu;
    return (u >> 8) & 0xFFFF;
}

// Ties are for the higher number.
__device__ bool before(unsigned v, unsigned u)
{
    unsigned a = rank_of(v);
    unsigned b = rank_of(u);
    return a != b ? a > b : v > u;
}

__global__ void colour_list(const int* step, volatile int* colour, const int* list, int count, int* rest, int* left, int n,
                            int degree)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count)
        return;
    int u = list ? list[at] : at;
    const int* slots = step + (size_t)u * degree;
    for (int s = 0; s < degree; s++) {
        long long v = (long long)u + slots[s];
        if (v >= 0 && v < n && v != u && before((unsigned)v, u) && colour[v] < 0) {
            rest[atomicAdd(left, 1)] = u;
            return;
        }
    }
    // 64 colours at a time, as bits.
    for (int first = 0;; first += 64) {
        unsigned long long taken = 0;
        for (int s = 0; s < degree; s++) {
            long long v = (long long)u + slots[s];
            if (v >= 0 && v < n && v != u && before((unsigned)v, u)) {
                int c = colour[v] - first;
                if (c >= 0 && c < 64)
                    taken |= 1ull << c;
            }
        }
        if (~taken) {
            colour[u] = first + __ffsll(~taken) - 1;
            return;
        }
    }
}

// Those that wait are listed, in any order, and only they are looked at in the next round.
extern "C" void colouring(const int* step, int* colour, int n, int degree)
{
    if (n <= 0)
        return;
    int* memory;
    if (cudaMalloc(&memory, sizeof(int) * (2 * (size_t)n + 1)) != cudaSuccess)
        return;
    int* left = memory + 2 * (size_t)n;
    cudaMemsetAsync(colour, 0xFF, sizeof(int) * (size_t)n);
    const int* list = nullptr;
    int open = n;
    for (int round = 0; open > 0; round++) {
        int* rest = memory + (round & 1) * (size_t)n;
        cudaMemsetAsync(left, 0, sizeof(int));
        colour_list<<<(open + 127) / 128, 128>>>(step, colour, list, open, rest, left, n, degree);
        if (cudaMemcpy(&open, left, sizeof(int), cudaMemcpyDeviceToHost) != cudaSuccess)
            break;
        list = rest;
    }
    cudaFree(memory);
}
