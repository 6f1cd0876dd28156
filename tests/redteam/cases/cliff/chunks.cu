// The steepest step of a series over a lag: the greatest |x[i+lag] - x[i]| and the first i that has it;
// -1 and -1 if there is no pair of numbers.
// Each thread looks through one stretch of the series. The first lane that holds the warp's greatest is found by
// a vote, then the first warp likewise.

extern "C" __global__ void cliff(const float* x, float* top, int* at, int n, int lag)
{
    __shared__ unsigned height[32];
    __shared__ int place[32];
    int lane = threadIdx.x & 31;
    int warp = threadIdx.x >> 5;

    float best = -1.0f;
    int where = -1;
    int pairs = max(n - lag, 0);
    int each = (pairs + 1023) / 1024;
    int from = threadIdx.x * each;
    int to = min(from + each, pairs);
    for (int i = from; i < to; i++) {
        float d = fabsf(x[i + lag] - x[i]);
        if (d > best) {
            best = d;
            where = i;
        }
    }

    // bits of a height order as the heights do; 0 means none
    unsigned bits = where < 0 ? 0u : __float_as_uint(best) + 1;
    unsigned most = __reduce_max_sync(0xffffffffu, bits);
    int first = __ffs(__ballot_sync(0xffffffffu, bits == most)) - 1;
    where = __shfl_sync(0xffffffffu, where, first);
    if (lane == 0) {
        height[warp] = most;
        place[warp] = where;
    }
    __syncthreads();
    if (warp == 0) {
        bits = height[lane];
        most = __reduce_max_sync(0xffffffffu, bits);
        first = __ffs(__ballot_sync(0xffffffffu, bits == most)) - 1;
        if (lane == 0) {
            top[0] = most ? __uint_as_float(most - 1) : -1.0f;
            at[0] = place[first];
        }
    }
}
