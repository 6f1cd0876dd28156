#include <cuda_runtime.h>

// Vector quantisation: for every row of x (w bytes) the nearest of k code words by the sum of absolute differences; of
// equally near ones the first. best[i] = distance << 32 | index, and both halves are also given on their own.
#define CHUNK 64

__global__ void reset(unsigned long long* best, int n)
{
}

// The first chunk of code words opens the contest with a plain store, which saves the pass that clears best.
__global__ void search(const unsigned char* x, const unsigned char* book, unsigned long long* best, int n, int k, int w)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned char* mine = x + (size_t)i * w;
    int from = blockIdx.y * CHUNK;
    int to = from + CHUNK < k ? from + CHUNK : k;
    unsigned long long least = ~0ull;
    for (int j = from; j < to; ++j) {
        const unsigned char* code = book + (size_t)j * w;
        unsigned s = 0;
        for (int b = 0; b < w; ++b) s += (unsigned)abs((int)mine[b] - (int)code[b]);
        unsigned long long packed = (unsigned long long)s << 32 | (unsigned)j;
        if (packed < least) least = packed;
    }
    if (blockIdx.y == 0) best[i] = least;
    else atomicMin(&best[i], least);
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
    search<<<dim3((n + 127) / 128, (k + CHUNK - 1) / CHUNK), 128>>>(x, book, best, n, k, w);
    unpack<<<(n + 255) / 256, 256>>>(best, index, distance, n);
}
