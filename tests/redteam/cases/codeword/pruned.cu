#include <cuda_runtime.h>

// Vector quantisation: for every row of x (w bytes) the nearest of k code words by the sum of absolute differences; of
// equally near ones the first. best[i] = distance << 32 | index, and both halves are also given on their own.
#define CHUNK 64

__global__ void reset(unsigned long long* best, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) best[i] = ~0ull;
}

// A code word is given up as soon as its partial sum passes the best distance that any block has reported so far. What is
// read of that distance may be old, but distances in best only ever fall.
__global__ void search(const unsigned char* x, const unsigned char* book, unsigned long long* best, int n, int k, int w)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned char* mine = x + (size_t)i * w;
    int from = blockIdx.y * CHUNK;
    int to = from + CHUNK < k ? from + CHUNK : k;
    const volatile unsigned long long* known = best + i;
    unsigned long long least = ~0ull;
    for (int j = from; j < to; ++j) {
        const unsigned char* code = book + (size_t)j * w;
        unsigned long long seen = *known;
        unsigned bound = (unsigned)((seen < least ? seen : least) >> 32);
        unsigned s = 0;
        int b = 0;
        while (b < w) {
            int stop = b + 8 < w ? b + 8 : w;
            for (; b < stop; ++b) s += (unsigned)abs((int)mine[b] - (int)code[b]);
            if (s > bound) break;
        }
        if (s > bound) continue;
        unsigned long long packed = (unsigned long long)s << 32 | (unsigned)j;
        if (packed < least) least = packed;
    }
    if (least != ~0ull) atomicMin(&best[i], least);
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
