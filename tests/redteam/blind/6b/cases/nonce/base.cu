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
    int n = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y;
    if (n >= tries) return;
    unsigned a = fold(header + 4 * j, 1), b = fold(header + 4 * j, 2);
    unsigned h = digest(a, b, n);
    if (h < target[j]) {
        atomicMin(&first[j], (unsigned)n);
        atomicAdd(&hits[j], 1u);
    }
    atomicMin(&best[j], h);
}

void nonce(const unsigned* header, const unsigned* target, unsigned* first, unsigned* hits, unsigned* best, int jobs,
           int tries)
{
    prepare<<<(jobs + 127) / 128, 128>>>(first, hits, best, jobs);
    search<<<dim3((tries + 255) / 256, jobs), 256>>>(header, target, first, hits, best, tries);
}
