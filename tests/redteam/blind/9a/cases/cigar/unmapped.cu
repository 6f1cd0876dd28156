#include <cuda_runtime.h>
#include <cstdint>

// Unmapped reads have no operations: their warps leave before the walk.
__global__ void cigar(const unsigned* __restrict__ ops, uint64_t* __restrict__ span,
                      uint64_t* __restrict__ query, uint64_t* __restrict__ edits,
                      uint64_t* __restrict__ exon, int* __restrict__ exons, int reads, int width)
{
    int lane = threadIdx.x & 31;
    int read = blockIdx.x * blockDim.x + threadIdx.x;
    bool inside = read < reads;
    const unsigned* row = ops + (size_t)(inside ? read : 0) * width;
    unsigned word = inside ? row[0] : 0u;
    if (!__any_sync(~0u, word != 0)) {
        if (inside && lane == 0)
            exons[read] = 1;
        if (inside)
            span[read] = 0;
        return;
    }
    if (!inside)
        return;
    unsigned long long ref = 0, qry = 0, edit = 0, stretch = 0, longest = 0;
    int count = 0;
    for (int i = 0; word != 0;) {
        unsigned long long len = word >> 4;
        unsigned op = word & 15u;
        unsigned moves = 0x3c1a7u >> (2 * op) & 3u;
        qry += moves & 1u ? len : 0;
        ref += moves & 2u ? len : 0;
        edit += 0x106u >> op & 1u ? len : 0;
        if (op == 3u) {
            longest = max(longest, stretch);
            stretch = 0;
            ++count;
        } else if (moves & 2u) {
            stretch += len;
        }
        word = ++i < width ? row[i] : 0u;
    }
    span[read] = ref;
    query[read] = qry;
    edits[read] = edit;
    exon[read] = stretch > longest ? stretch : longest;
    exons[read] = count + 1;
}
