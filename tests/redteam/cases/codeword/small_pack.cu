#include <cuda_runtime.h>

// Vector quantisation: for every row of x (w bytes) the nearest of k code words by the sum of absolute differences; of
// equally near ones the first. best[i] = distance << 32 | index, and both halves are also given on their own.
#define CHUNK 64

__global__ void reset(unsigned long long* best, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) best[i] = ~0ull;
}

// One warp per row: its lanes take the code words in turn, and the least of the lanes comes from one redux over distance
// and index packed into a word.
__global__ void search(const unsigned char* x, const unsigned char* book, unsigned long long* best, int n, int k, int w)
{
    int lane = threadIdx.x & 31;
    int i = blockIdx.x * 4 + (threadIdx.x >> 5);
    if (i >= n) return;
    const unsigned char* mine = x + (size_t)i * w;
    unsigned least = ~0u;
    for (int j = lane; j < k; j += 32) {
        const unsigned char* code = book + (size_t)j * w;
        unsigned s = 0;
        for (int b = 0; b < w; ++b) s += (unsigned)abs((int)mine[b] - (int)code[b]);
        least = min(least, s << 10 | (unsigned)j);
    }
    least = __reduce_min_sync(0xffffffffu, least);
    if (lane == 0) best[i] = (unsigned long long)(least >> 10) << 32 | (least & 1023u);
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
