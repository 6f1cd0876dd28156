// A round of Boruvka's spanning tree: for each component the lightest edge that leaves it, of equal ones the
// first. Vertices come as hashes; an edge whose weight is not a number is none. -1 where nothing leaves.
// Two passes of 32-bit atomics in place of one of 64 bits: the least weight of each component first, then the
// first edge that has it. The second goes straight to the output.
#include <cuda_runtime.h>

// Unsigned numbers in the order of the weights; both zeros are one.
__device__ unsigned rank_of(float w)
{
    unsigned b = __float_as_uint(w + 0.0f);
    return b & 0x80000000u ? ~b : b | 0x80000000u;
}

__global__ void clear(unsigned* least, int* edge, int vertices)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= vertices) return;
    least[v] = 0xffffffffu;
    edge[v] = -1;
}

__global__ void weights(const int* from, const int* to, const float* weight, const int* part, unsigned* least,
                        int vertices, int edges)
{
    for (int e = blockIdx.x * blockDim.x + threadIdx.x; e < edges; e += gridDim.x * blockDim.x) {
        float w = weight[e];
        if (w != w) continue;
        int a = part[from[e] % vertices] % vertices;
        int b = part[to[e] % vertices] % vertices;
        if (a == b) continue;
        unsigned key = rank_of(w);
        atomicMin(&least[a], key);
        atomicMin(&least[b], key);
    }
}

__global__ void firsts(const int* from, const int* to, const float* weight, const int* part, const unsigned* least,
                       int* edge, int vertices, int edges)
{
    for (int e = blockIdx.x * blockDim.x + threadIdx.x; e < edges; e += gridDim.x * blockDim.x) {
        float w = weight[e];
        if (w != w) continue;
        int a = part[from[e] % vertices] % vertices;
        int b = part[to[e] % vertices] % vertices;
        if (a == b) continue;
        unsigned key = rank_of(w);
        // As unsigned numbers -1 is above every edge.
        if (key == least[a]) atomicMin((unsigned*)&edge[a], (unsigned)e);
        if (key == least[b]) atomicMin((unsigned*)&edge[b], (unsigned)e);
    }
}

extern "C" void boruvka(const int* from, const int* to, const float* weight, const int* part, int* edge, int vertices,
                        int edges)
{
    unsigned* least;
    cudaMalloc(&least, sizeof(unsigned) * vertices);
    clear<<<(vertices + 255) / 256, 256>>>(least, edge, vertices);
    int grid = edges / 1024 + 1;
    weights<<<grid, 256>>>(from, to, weight, part, least, vertices, edges);
    firsts<<<grid, 256>>>(from, to, weight, part, least, edge, vertices, edges);
    cudaFree(least);
}
