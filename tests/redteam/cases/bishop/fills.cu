#include <stdint.h>

// All sliders of a position at once: occluded fills by doubling in each of the four directions.
// Within one direction a square is seen by the nearest slider only, so the population counts
// of the four sets add up to the number of moves.
#define NOT_A 0xfefefefefefefefeull
#define NOT_H 0x7f7f7f7f7f7f7f7full

template <int S>
static __device__ __forceinline__ uint64_t up(uint64_t g, uint64_t p, uint64_t edge)
{
    p &= edge;
    g |= p & (g << S);
    p &= p << S;
    g |= p & (g << (2 * S));
    p &= p << (2 * S);
    g |= p & (g << (4 * S));
    return (g << S) & edge;
}

template <int S>
static __device__ __forceinline__ uint64_t down(uint64_t g, uint64_t p, uint64_t edge)
{
    p &= edge;
    g |= p & (g >> S);
    p &= p >> S;
    g |= p & (g >> (2 * S));
    p &= p >> (2 * S);
    g |= p & (g >> (4 * S));
    return (g >> S) & edge;
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
    uint64_t ne = up<9>(sliders, ~all, NOT_A);
    uint64_t nw = up<7>(sliders, ~all, NOT_H);
    uint64_t se = down<7>(sliders, ~all, NOT_A);
    uint64_t sw = down<9>(sliders, ~all, NOT_H);
    reach[i] = ne | nw | se | sw;
    moves[i] = __popcll(ne & ~own) + __popcll(nw & ~own) + __popcll(se & ~own) + __popcll(sw & ~own);
}
