// Zone map of a column: for each zone of rows the least and the greatest value, the rows that are null and those that
// are not a number. Bit i % 32 of word i / 32 is set where row i has a value. Nulls and NaNs take no part in the range;
// a zone without values has (inf, -inf).
// A warp takes 32 rows at a time that share a word of the bits; the last word of a zone is cut to its rows. Nulls
// are counted by the word. fminf and fmaxf pass over a NaN, so that only the count has to look for it.
#include <math_constants.h>

#define FULL 0xffffffffu

__global__ void __launch_bounds__(128) zonemap(const float* value, const int* valid, float* low, float* high,
                                               int* nulls, int* nans, int n, int zone)
{
    __shared__ float lows[4], highs[4];
    __shared__ int empty[4], odd[4];
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;
    long long start = (long long)blockIdx.x * zone;
    long long end = start + zone < n ? start + zone : n;
    float lo = CUDART_INF_F, hi = -CUDART_INF_F;
    int none = 0, bad = 0;
    for (long long word = start / 32 + warp; word * 32 < end; word += 4) {
        unsigned rows = FULL;
        if (word * 32 + 32 > end) rows &= FULL >> (word * 32 + 32 - end);
        unsigned bits = (unsigned)valid[word] & rows;
        none += __popc(rows ^ bits);
        float v = bits >> lane & 1 ? value[word * 32 + lane] : CUDART_NAN_F;
        lo = fminf(lo, v);
        hi = fmaxf(hi, v);
        bad += __popc(__ballot_sync(FULL, v != v) & bits);
    }
#pragma unroll
    for (int step = 16; step; step /= 2) {
        lo = fminf(lo, __shfl_xor_sync(FULL, lo, step));
        hi = fmaxf(hi, __shfl_xor_sync(FULL, hi, step));
    }
    if (lane == 0) {
        lows[warp] = lo;
        highs[warp] = hi;
        empty[warp] = none;
        odd[warp] = bad;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        low[blockIdx.x] = fminf(fminf(lows[0], lows[1]), fminf(lows[2], lows[3]));
        high[blockIdx.x] = fmaxf(fmaxf(highs[0], highs[1]), fmaxf(highs[2], highs[3]));
        nulls[blockIdx.x] = empty[0] + empty[1] + empty[2] + empty[3];
        nans[blockIdx.x] = odd[0] + odd[1] + odd[2] + odd[3];
    }
}
