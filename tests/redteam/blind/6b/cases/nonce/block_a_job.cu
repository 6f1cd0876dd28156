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

// A block for each job.
__global__ void __launch_bounds__(1024) search(const unsigned* header, const unsigned* target, unsigned* first, unsigned* hits, unsigned* best,
                       int tries)
{
    __shared__ unsigned least, count, low;
    int j = blockIdx.x;
    if (threadIdx.x == 0) { least = 0xffffffffu; count = 0; low = 0xffffffffu; }
    __syncthreads();
    unsigned a = fold(header + 4 * j, 1), b = fold(header + 4 * j, 2), limit = target[j];
    unsigned found = 0xffffffffu, mine = 0, small = 0xffffffffu;
    for (unsigned n = threadIdx.x; n < (unsigned)tries; n += 1024) {
        unsigned h = digest(a, b, n);
        if (h < limit) { mine++; found = min(found, n); }
        small = min(small, h);
    }
    found = __reduce_min_sync(0xffffffffu, found);
    mine = __reduce_add_sync(0xffffffffu, mine);
    small = __reduce_min_sync(0xffffffffu, small);
    if (threadIdx.x % 32 == 0) {
        atomicMin(&least, found);
        atomicAdd(&count, mine);
        atomicMin(&low, small);
    }
    __syncthreads();
    if (threadIdx.x == 0) { first[j] = least; hits[j] = count; best[j] = low; }
}

void nonce(const unsigned* header, const unsigned* target, unsigned* first, unsigned* hits, unsigned* best, int jobs,
           int tries)
{
    search<<<jobs, 1024>>>(header, target, first, hits, best, tries);
}
