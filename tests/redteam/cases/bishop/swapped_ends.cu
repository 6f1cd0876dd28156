#include <stdint.h>

// Subtract-and-xor on each diagonal. A diagonal has one square on every rank, so swapping the
// bytes of the board turns it end for end; no bit reversal is needed.
static __device__ __forceinline__ uint64_t swapped(uint64_t x)
{
    unsigned lo = (unsigned)x, hi = (unsigned)(x >> 32);
    return ((uint64_t)__byte_perm(lo, 0, 0x0123) << 32) | __byte_perm(hi, 0, 0x0123);
}

static __device__ __forceinline__ uint64_t line(uint64_t all, uint64_t bit, uint64_t mask)
{
    mask ^= bit;
    uint64_t forward = all & mask;
    uint64_t backward = swapped(forward);
    forward -= bit;
    backward -= swapped(bit);
    return (forward ^ swapped(backward)) & mask;
}

static __device__ __forceinline__ uint64_t shifted(uint64_t diagonal, int ranks)
{
    return ranks >= 0 ? diagonal << (8 * ranks) : diagonal >> (-8 * ranks);
}

extern "C" __global__ void bishop(const uint8_t* men, uint64_t* reach, int* moves, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const uint64_t* p = (const uint64_t*)men + (size_t)i * 12;
    uint64_t sliders = p[2] | p[4];
    uint64_t own = sliders | p[0] | p[1] | p[3] | p[5];
    uint64_t all = own | p[6] | p[7] | p[8] | p[9] | p[10] | p[11];
    uint64_t seen = 0;
    int count = 0;
    for (uint64_t left = sliders; left; left &= left - 1) {
        uint64_t bit = left & (0 - left);
        int square = __ffsll((long long)bit) - 1;
        int f = square & 7, r = square >> 3;
        uint64_t a = line(all, bit, shifted(0x8040201008040201ull, r - f))
                   | line(all, bit, shifted(0x0102040810204080ull, r + f - 7));
        seen |= a;
        count += __popcll(a & ~own);
    }
    reach[i] = seen;
    moves[i] = count;
}
