#include <cuda_runtime.h>
#include <cstdint>

// Warp a read: the lanes take 32 operations, and the exons are joined as (first stretch, longest inside, last stretch).
__global__ void cigar(const unsigned* __restrict__ ops, uint64_t* __restrict__ span,
                      uint64_t* __restrict__ query, uint64_t* __restrict__ edits,
                      uint64_t* __restrict__ exon, int* __restrict__ exons, int reads, int width)
{
    int lane = threadIdx.x & 31;
    int read = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
    if (read >= reads)
        return;
    const unsigned* row = ops + (size_t)read * width;
    unsigned long long ref = 0, qry = 0, edit = 0, open = 0, longest = 0;
    int count = 0;
    for (int i0 = 0; i0 < width; i0 += 32) {
        unsigned word = i0 + lane < width ? row[i0 + lane] : 0u;
        unsigned stop = __ballot_sync(~0u, word == 0);
        int live = stop ? __ffs(stop) - 1 : 32;
        if (lane >= live)
            word = 0;
        unsigned op = lane < live ? word & 15u : 15u;
        unsigned long long len = word >> 4;
        bool match = op == 0 || op == 7 || op == 8;
        qry += match || op == 1 || op == 4 ? len : 0;
        edit += op == 1 || op == 2 || op == 8 ? len : 0;
        ref += match || op == 2 || op == 3 ? len : 0;
        // inclusive sums of what counts for exons
        unsigned long long sum = match || op == 2 ? len : 0;
        for (int o = 1; o < 32; o <<= 1) {
            unsigned long long v = __shfl_up_sync(~0u, sum, o);
            if (lane >= o)
                sum += v;
        }
        unsigned cuts = __ballot_sync(~0u, op == 3);
        unsigned below = cuts & ((1u << lane) - 1u);
        int from = below ? 31 - __clz((int)below) : 0;
        unsigned long long at = __shfl_sync(~0u, sum, from);    // the sum at the intron before
        if (op == 3)
            longest = max(longest, below ? sum - at : sum + open);
        unsigned long long all = __shfl_sync(~0u, sum, 31);
        unsigned long long atLast = __shfl_sync(~0u, sum, cuts ? 31 - __clz((int)cuts) : 0);
        open = cuts ? all - atLast : open + all;
        count += __popc(cuts);
        if (stop)
            break;
    }
    longest = max(longest, open);
    for (int o = 16; o; o >>= 1) {
        ref += __shfl_xor_sync(~0u, ref, o);
        qry += __shfl_xor_sync(~0u, qry, o);
        edit += __shfl_xor_sync(~0u, edit, o);
        longest = max(longest, __shfl_xor_sync(~0u, longest, o));
    }
    if (lane == 0) {
        span[read] = ref;
        query[read] = qry;
        edits[read] = edit;
        exon[read] = longest;
        exons[read] = count + 1;
    }
}
