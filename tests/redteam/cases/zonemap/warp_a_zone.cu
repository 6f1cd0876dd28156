// Zone map of a column: for each zone of rows the least and the greatest value, the rows that are null and those that
// are not a number. Bit i % 32 of word i / 32 is set where row i has a value. Nulls and NaNs take no part in the range;
// a zone without values has (inf, -inf).
// A warp has a zone and brings its four results together by shuffles; each lane keeps four rows in flight.
#include <math_constants.h>

#define FULL 0xffffffffu

__global__ void __launch_bounds__(128) zonemap(const float* value, const int* valid, float* low, float* high,
                                               int* nulls, int* nans, int n, int zone)
{
    int lane = threadIdx.x % 32;
    long long which = (long long)blockIdx.x * 4 + threadIdx.x / 32;
    long long start = which * zone;
    if (start >= n) return;
    long long end = start + zone < n ? start + zone : n;
    float lo = CUDART_INF_F, hi = -CUDART_INF_F;
    int none = 0, bad = 0;
    for (long long i = start + lane; i < end; i += 128) {
        float v[4];
        bool has[4];
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            long long at = i + 32 * j;
            has[j] = at < end && ((unsigned)__ldg(&valid[at / 32]) >> (at % 32) & 1);
            none += at < end && !has[j];
            v[j] = has[j] ? __ldg(&value[at]) : 0.0f;
        }
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            bool number = v[j] == v[j];
            bad += !number;
            if (has[j] && number) {
                lo = fminf(lo, v[j]);
                hi = fmaxf(hi, v[j]);
            }
        }
    }
#pragma unroll
    for (int step = 16; step; step /= 2) {
        lo = fminf(lo, __shfl_xor_sync(FULL, lo, step));
        hi = fmaxf(hi, __shfl_xor_sync(FULL, hi, step));
    }
    none = __reduce_add_sync(FULL, none);
    bad = __reduce_add_sync(FULL, bad);
    if (lane == 0) {
        low[which] = lo;
        high[which] = hi;
        nulls[which] = none;
        nans[which] = bad;
    }
}
