#include <cuda_runtime.h>
#include <cstdint>

// Coalesced: 128 reads by 16 operations through a padded shared tile; the block ends as soon as all reads are at padding.
__global__ void cigar(const unsigned* __restrict__ ops, uint64_t* __restrict__ span,
                      uint64_t* __restrict__ query, uint64_t* __restrict__ edits,
                      uint64_t* __restrict__ exon, int* __restrict__ exons, int reads, int width)
{
    __shared__ unsigned tile[128][17];
    int first = blockIdx.x * 128;
    int here = min(128, reads - first);
    int read = first + threadIdx.x;
    bool live = (int)threadIdx.x < here;
    unsigned long long ref = 0, qry = 0, edit = 0, stretch = 0, longest = 0;
    int count = 0;
    for (int i0 = 0; i0 < width; i0 += 16) {
        int wide = min(16, width - i0);
        for (int k = threadIdx.x; k < here * 16; k += 128)
            if ((k & 15) < wide)
                tile[k >> 4][k & 15] = ops[(size_t)(first + (k >> 4)) * width + i0 + (k & 15)];
        __syncthreads();
        for (int k = 0; live && k < wide; ++k) {
            unsigned word = tile[threadIdx.x][k];
            unsigned op = word & 15u;
            unsigned long long len = word >> 4;
            live = word != 0;
            unsigned bit = live ? 1u << op : 0u;
            if (bit & 0x185u) {                 // M D = X
                ref += len;
                stretch += len;
            }
            if (bit & 0x193u)                   // M I S = X
                qry += len;
            if (bit & 0x106u)                   // I D X
                edit += len;
            if (bit & 0x8u) {
                ref += len;
                longest = max(longest, stretch);
                stretch = 0;
                ++count;
            }
        }
        if (!__syncthreads_or(live))
            break;
    }
    if (read >= reads)
        return;
    span[read] = ref;
    query[read] = qry;
    edits[read] = edit;
    exon[read] = stretch > longest ? stretch : longest;
    exons[read] = count + 1;
}
