#include <cuda_runtime.h>
#include <cstdint>

// What an operation moves, as in htslib: two bits an operation, 1 the query, 2 the reference.
constexpr unsigned kMoves = 0x3c1a7;
constexpr unsigned kEdits = 0x106;              // I, D, X

__global__ void cigar(const unsigned* __restrict__ ops, uint64_t* __restrict__ span,
                      uint64_t* __restrict__ query, uint64_t* __restrict__ edits,
                      uint64_t* __restrict__ exon, int* __restrict__ exons, int reads, int width)
{
    int read = blockIdx.x * blockDim.x + threadIdx.x;
    if (read >= reads)
        return;
    const unsigned* row = ops + (size_t)read * width;
    unsigned ref = 0, qry = 0, edit = 0, introns = 0, stretch = 0, longest = 0;   // genomes fit 32 bits
    int count = 0;
    unsigned word;
    for (int i = 0; i < width && (word = row[i]) != 0; ++i) {
        unsigned len = word >> 4;
        unsigned op = word & 15u;
        unsigned moves = kMoves >> (2 * op) & 3u;
        qry += moves & 1u ? len : 0;
        ref += moves & 2u ? len : 0;
        edit += kEdits >> op & 1u ? len : 0;
        if (op == 3u) {
            longest = max(longest, ref - len - introns);
            introns = ref;                      // where the exon begins
            ++count;
        }
    }
    stretch = ref - introns;
    span[read] = ref;
    query[read] = qry;
    edits[read] = edit;
    exon[read] = stretch > longest ? stretch : longest;
    exons[read] = count + 1;
}
