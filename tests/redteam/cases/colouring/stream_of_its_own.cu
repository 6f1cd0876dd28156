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

__global__ void colour_round(const int* step, volatile int* colour, int* left, int n, int degree)
{
    int u = blockIdx.x * blockDim.x + threadIdx.x;
    if (u >= n || colour[u] >= 0)
        return;
    const int* slots = step + (size_t)u * degree;
    for (int s = 0; s < degree; s++) {
        long long v = (long long)u + slots[s];
        if (v >= 0 && v < n && v != u && before((unsigned)v, u) && colour[v] < 0) {
            atomicAdd(left, 1);
            return;
        }
    }
    for (int c = 0;; c++) {
        bool taken = false;
        for (int s = 0; s < degree && !taken; s++) {
            long long v = (long long)u + slots[s];
            taken = v >= 0 && v < n && v != u && before((unsigned)v, u) && colour[v] == c;
        }
        if (!taken) {
            colour[u] = c;
            return;
        }
    }
}

// Rounds in a buffer of their own, on a stream of their own; the colours go out when they are done.
extern "C" void colouring(const int* step, int* colour, int n, int degree)
{
    if (n <= 0)
        return;
    static cudaStream_t stream = nullptr;
    static int* work = nullptr;
    static size_t room = 0;
    if (!stream)
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    if (room < (size_t)n + 1) {
        cudaFree(work);
        cudaMalloc(&work, sizeof(int) * ((size_t)n + 1));
        room = (size_t)n + 1;
    }
    int* left = work + n;
    int open = n;
    cudaMemsetAsync(work, 0xFF, sizeof(int) * (size_t)n, stream);
    while (open > 0) {
        cudaMemsetAsync(left, 0, sizeof(int), stream);
        colour_round<<<(n + 127) / 128, 128, 0, stream>>>(step, work, left, n, degree);
        cudaMemcpyAsync(&open, left, sizeof(int), cudaMemcpyDeviceToHost, stream);
        if (cudaStreamSynchronize(stream) != cudaSuccess)
            break;
    }
    cudaMemcpyAsync(colour, work, sizeof(int) * (size_t)n, cudaMemcpyDeviceToDevice, stream);
}
