#include <cuda_runtime.h>
#include <cstdint>

// Two passes by all threads of a block over its 32 reads: sums by shared atomics, then one thread a read for its exons.
__global__ void cigar(const unsigned* __restrict__ ops, uint64_t* __restrict__ span,
                      uint64_t* __restrict__ query, uint64_t* __restrict__ edits,
                      uint64_t* __restrict__ exon, int* __restrict__ exons, int reads, int width)
{
    __shared__ unsigned long long sums[3][32];
    __shared__ unsigned stop[32];
    int first = blockIdx.x * 32;
    int here = min(32, reads - first);
    if (threadIdx.x < 32) {
        sums[0][threadIdx.x] = 0;
        sums[1][threadIdx.x] = 0;
        sums[2][threadIdx.x] = 0;
        stop[threadIdx.x] = (unsigned)width;
    }
    __syncthreads();
    // where the padding begins
    for (int r = threadIdx.x >> 5; r < here; r += blockDim.x >> 5)
        for (int i = threadIdx.x & 31; i < width; i += 32)
            if (ops[(size_t)(first + r) * width + i] == 0)
                atomicMin(&stop[r], (unsigned)i);
    // the sums; a warp takes other reads than above, so that long reads spread
    for (int r = here - 1 - (int)(threadIdx.x >> 5); r >= 0; r -= blockDim.x >> 5) {
        for (int i = threadIdx.x & 31; i < (int)stop[r]; i += 32) {
            unsigned word = ops[(size_t)(first + r) * width + i];
            unsigned long long len = word >> 4;
            unsigned op = word & 15u;
            unsigned moves = 0x3c1a7u >> (2 * op) & 3u;
            if (moves & 2u)
                atomicAdd(&sums[0][r], len);
            if (moves & 1u)
                atomicAdd(&sums[1][r], len);
            if (0x106u >> op & 1u)
                atomicAdd(&sums[2][r], len);
        }
    }
    __syncthreads();
    if ((int)threadIdx.x >= here)
        return;
    int read = first + threadIdx.x;
    const unsigned* row = ops + (size_t)read * width;
    unsigned long long ref = sums[0][threadIdx.x], qry = sums[1][threadIdx.x], edit = sums[2][threadIdx.x];
    unsigned long long stretch = 0, longest = 0;
    int count = 0;
    for (int i = 0; i < (int)stop[threadIdx.x]; ++i) {
        unsigned word = row[i];
        unsigned op = word & 15u;
        if (op == 3u) {
            longest = max(longest, stretch);
            stretch = 0;
            ++count;
        } else if (0x185u >> op & 1u) {
            stretch += word >> 4;
        }
    }
    span[read] = ref;
    query[read] = qry;
    edits[read] = edit;
    exon[read] = stretch > longest ? stretch : longest;
    exons[read] = count + 1;
}
