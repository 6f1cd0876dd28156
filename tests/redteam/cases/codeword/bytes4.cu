#include <cuda_runtime.h>

// Vector quantisation: for every row of x (w bytes) the nearest of k code words by the sum of absolute differences; of
// equally near ones the first. best[i] = distance << 32 | index, and both halves are also given on their own.
#define CHUNK 64

__global__ void reset(unsigned long long* best, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) best[i] = ~0ull;
}

// Four bytes at a time with the SIMD-in-a-word sum of absolute differences, where rows are made of whole words.
__global__ void search(const unsigned char* x, const unsigned char* book, unsigned long long* best, int n, int k, int w)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned char* mine = x + (size_t)i * w;
    int from = blockIdx.y * CHUNK;
    int to = from + CHUNK < k ? from + CHUNK : k;
    bool words = (w & 3) == 0;
    unsigned long long least = ~0ull;
    for (int j = from; j < to; ++j) {
        const unsigned char* code = book + (size_t)j * w;
        unsigned s = 0;
        if (words) {
            const unsigned* p = reinterpret_cast<const unsigned*>(mine);
            const unsigned* q = reinterpret_cast<const unsigned*>(code);
            for (int b = 0; b < w / 4; ++b) s += __vsadu4(p[b], q[b]);
        } else {
            for (int b = 0; b < w; ++b) s = __sad((int)mine[b], (int)code[b], s);
        }
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
