#include <cuda_runtime.h>

// Vector quantisation: for every row of x (w bytes) the nearest of k code words by the sum of absolute differences; of
// equally near ones the first. best[i] = distance << 32 | index, and both halves are also given on their own.
#define CHUNK 64

__global__ void reset(unsigned long long* best, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) best[i] = ~0ull;
}

// One warp per row: its lanes take the code words in turn, and a butterfly of shuffles over (distance, index) leaves the
// least in every lane.
__global__ void search(const unsigned char* x, const unsigned char* book, unsigned long long* best, int n, int k, int w)
{
    int lane = threadIdx.x & 31;
    int i = blockIdx.x * 4 + (threadIdx.x >> 5);
    if (i >= n) return;
    const unsigned char* mine = x + (size_t)i * w;
    unsigned long long least = ~0ull;
    for (int j = lane; j < k; j += 32) {
        const unsigned char* code = book + (size_t)j * w;
        unsigned s = 0;
        for (int b = 0; b < w; ++b) s += (unsigned)abs((int)mine[b] - (int)code[b]);
        unsigned long long packed = (unsigned long long)s << 32 | (unsigned)j;
        least = packed < least ? packed : least;
    }
    for (int d = 16; d; d >>= 1) {
        unsigned long long other = __shfl_xor_sync(0xffffffffu, least, d);
        least = other < least ? other : least;
    }
    if (lane == 0) best[i] = least;
}

__global__ void unpack(const unsigned long long* best, int* index, int* distance, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    index[i] = (int)(best[i] & 0xffffffffull);
    distance[i] = (int)(best[i] >> 32);
}

extern "C" void codeword(const unsigned char* x, const unsigned char* book, unsigned long long* best, int* index, int* distance,
                         int n, int k, int w)
{
    reset<<<(n + 255) / 256, 256>>>(best, n);
    search<<<(n + 3) / 4, 128>>>(x, book, best, n, k, w);
    unpack<<<(n + 255) / 256, 256>>>(best, index, distance, n);
}
