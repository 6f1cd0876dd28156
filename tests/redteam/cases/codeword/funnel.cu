#include <cuda_runtime.h>

// Vector quantisation: for every row of x (w bytes) the nearest of k code words by the sum of absolute differences; of
// equally near ones the first. best[i] = distance << 32 | index, and both halves are also given on their own.
#define CHUNK 64

__global__ void reset(unsigned long long* best, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) best[i] = ~0ull;
}

// Rows of any length four bytes at a time: aligned words are read and two neighbours are shifted together.
__device__ __forceinline__ unsigned word_at(const unsigned* base, size_t byte)
{
    const unsigned* p = base + (byte >> 2);
    return __funnelshift_r(p[0], p[1], (unsigned)(byte & 3) * 8u);
}

__global__ void search(const unsigned char* x, const unsigned char* book, unsigned long long* best, int n, int k, int w)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned char* mine = x + (size_t)i * w;
    int from = blockIdx.y * CHUNK;
    int to = from + CHUNK < k ? from + CHUNK : k;
    const unsigned* xs = reinterpret_cast<const unsigned*>(x);
    const unsigned* bs = reinterpret_cast<const unsigned*>(book);
    unsigned long long least = ~0ull;
    for (int j = from; j < to; ++j) {
        const unsigned char* code = book + (size_t)j * w;
        unsigned s = 0;
        int b = 0;
        for (; b + 4 <= w; b += 4)
            s += __vsadu4(word_at(xs, (size_t)i * w + b), word_at(bs, (size_t)j * w + b));
        for (; b < w; ++b) s += (unsigned)abs((int)mine[b] - (int)code[b]);
        unsigned long long packed = (unsigned long long)s << 32 | (unsigned)j;
        if (packed < least) least = packed;
    }
    atomicMin(&best[i], least);
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
