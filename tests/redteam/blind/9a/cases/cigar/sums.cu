#include <cuda_runtime.h>
#include <cstdint>

// Only six sums are needed: matched, mismatched, inserted, deleted, skipped and clipped; four words a load where aligned.
struct Sums {
    unsigned long long same, mismatch, insert, remove, skip, clip, start, longest;
    int count;
};

__device__ __forceinline__ bool take(unsigned word, Sums& s)
{
    if (word == 0)
        return false;
    unsigned long long len = word >> 4;
    switch (word & 15u) {
    case 0: case 7: s.same += len; break;
    case 8: s.mismatch += len; break;
    case 1: s.insert += len; break;
    case 2: s.remove += len; break;
    case 4: s.clip += len; break;
    case 3: {
        unsigned long long now = s.same + s.mismatch + s.remove;
        s.longest = max(s.longest, now - s.start);
        s.start = now;
        s.skip += len;
        ++s.count;
        break;
    }
    default: break;
    }
    return true;
}

__global__ void cigar(const unsigned* __restrict__ ops, uint64_t* __restrict__ span,
                      uint64_t* __restrict__ query, uint64_t* __restrict__ edits,
                      uint64_t* __restrict__ exon, int* __restrict__ exons, int reads, int width)
{
    int read = blockIdx.x * blockDim.x + threadIdx.x;
    if (read >= reads)
        return;
    const unsigned* row = ops + (size_t)read * width;
    Sums s = {};
    int i = 0;
    bool more = true;
    if (((uintptr_t)row & 15) == 0)
        for (; more && i + 4 <= width; i += 4) {
            uint4 v = *(const uint4*)(row + i);
            more = take(v.x, s) && take(v.y, s) && take(v.z, s) && take(v.w, s);
        }
    for (; more && i < width; ++i)
        more = take(row[i], s);
    unsigned long long exonic = s.same + s.mismatch + s.remove;
    span[read] = exonic + s.skip;
    query[read] = s.same + s.mismatch + s.insert + s.clip;
    edits[read] = s.insert + s.remove + s.mismatch;
    exon[read] = max(s.longest, exonic - s.start);
    exons[read] = s.count + 1;
}
