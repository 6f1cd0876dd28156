#include <cuda_runtime.h>
#include <cstdint>

// Without branches: an intron is where bases are skipped, all sums are taken under masks.
__global__ void cigar(const unsigned* __restrict__ ops, uint64_t* __restrict__ span,
                      uint64_t* __restrict__ query, uint64_t* __restrict__ edits,
                      uint64_t* __restrict__ exon, int* __restrict__ exons, int reads, int width)
{
    int read = blockIdx.x * blockDim.x + threadIdx.x;
    if (read >= reads)
        return;
    const unsigned* row = ops + (size_t)read * width;
    unsigned long long ref = 0, qry = 0, edit = 0, stretch = 0, longest = 0;
    int count = 0;
    for (int i = 0; i < width; ++i) {
        unsigned word = row[i];
        if (word == 0)
            break;
        unsigned long long len = word >> 4;
        unsigned bit = 1u << (word & 15u);
        unsigned long long both = bit & 0x181u ? len : 0;
        unsigned long long removed = bit & 0x4u ? len : 0;
        unsigned long long skipped = bit & 0x8u ? len : 0;
        unsigned long long extra = bit & 0x12u ? len : 0;
        stretch += both + removed;
        ref += both + removed + skipped;
        qry += both + extra;
        edit += bit & 0x106u ? len : 0;
        longest = max(longest, stretch);
        stretch = skipped ? 0 : stretch;
        count += skipped != 0;
    }
    span[read] = ref;
    query[read] = qry;
    edits[read] = edit;
    exon[read] = stretch > longest ? stretch : longest;
    exons[read] = count + 1;
}
