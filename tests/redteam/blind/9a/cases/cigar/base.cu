// Spans of aligned reads from their CIGAR operations as BAM keeps them: length * 16 + operation, rows padded with zero words.
#include <cuda_runtime.h>
#include <cstdint>

// operations: 0 M, 1 I, 2 D, 3 N, 4 S, 5 H, 6 P, 7 =, 8 X; what is above does not move anything
// span: reference bases from first to last; query: bases of the read; edits: inserted, deleted and mismatched ones;
// exon: reference bases of the longest stretch between two introns (N)
__global__ void cigar(const unsigned* ops, uint64_t* span, uint64_t* query,
                      uint64_t* edits, uint64_t* exon, int* exons, int reads, int width)
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
            break;                              // padding
        unsigned long long len = word >> 4;
        unsigned op = word & 15;
        if (op == 0 || op == 7 || op == 8) {
            ref += len;
            qry += len;
            stretch += len;
        } else if (op == 2) {
            ref += len;
            stretch += len;
        } else if (op == 1 || op == 4) {
            qry += len;
        } else if (op == 3) {
            ref += len;
            longest = stretch > longest ? stretch : longest;
            stretch = 0;
            ++count;
        }
        if (op == 1 || op == 2 || op == 8)
            edit += len;
    }
    span[read] = ref;
    query[read] = qry;
    edits[read] = edit;
    exon[read] = stretch > longest ? stretch : longest;
    exons[read] = count + 1;
}
