// Proof of work: for each job the first nonce whose hash is below the job's target, how many there are,
// and the smallest hash of all.
#include <cuda_runtime.h>

__device__ __forceinline__ unsigned scramble(unsigned h)
{
    h ^= h >> 16; h *= 0x85ebca6bu;
    h ^= h >> 13; h *= 0xc2b2ae35u;
    return h ^ (h >> 16);
}

__device__ __forceinline__ unsigned fold(const unsigned* header, unsigned seed)
{
    unsigned s = seed;
    for (int i = 0; i < 4; i++) s = scramble(s ^ header[i]) + 0x9e3779b9u;
    return s;
}

__device__ __forceinline__ unsigned digest(unsigned a, unsigned b, unsigned nonce)
{
    return scramble(a + nonce) ^ scramble(b ^ (nonce * 0x27d4eb2fu));
}

__global__ void prepare(unsigned* first, unsigned* hits, unsigned* best, int jobs)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= jobs) return;
    first[j] = 0xffffffffu;
    hits[j] = 0;
    best[j] = 0xffffffffu;
}

__global__ void search(const unsigned* header, const unsigned* target, unsigned* first, unsigned* hits, unsigned* best,
                       int tries)
{
    int n = (blockIdx.x * blockDim.x + threadIdx.x) * 4, j = blockIdx.y;
    if (n >= tries) return;
    unsigned a = fold(header + 4 * j, 1), b = fold(header + 4 * j, 2);
    unsigned step = 0x27d4eb2fu, x = a + n, y = n * step, limit = target[j], low = 0xffffffffu, count = 0, found = 0;
    int end = min(4, tries - n);
    for (int i = end - 1; i >= 0; i--) {                 // downwards: the last one kept is the first nonce
        unsigned h = scramble(x + i) ^ scramble(b ^ (y + i * step));
        if (h < limit) { count++; found = n + i; }
        low = min(low, h);
    }
    if (count) {
        atomicMin(&first[j], found);
        atomicAdd(&hits[j], count);
    }
    atomicMin(&best[j], low);
}

void nonce(const unsigned* header, const unsigned* target, unsigned* first, unsigned* hits, unsigned* best, int jobs,
           int tries)
{
    prepare<<<(jobs + 127) / 128, 128>>>(first, hits, best, jobs);
    search<<<dim3((tries + 1023) / 1024, jobs), 256>>>(header, target, first, hits, best, tries);
}
