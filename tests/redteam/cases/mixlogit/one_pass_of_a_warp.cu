// A choice among alternatives: row r chooses a with a chance of exp(utility[r][a]) / sum over all of them. Out come
// the mean fare of what it chooses and the log of the sum. A utility of minus infinity is an alternative that row has
// not got; a row that has none at all has a mean of 0 and a log of minus infinity.
// A warp to a row; the sums are kept relative to the largest so far.
__device__ __forceinline__ float scale(float from, float to)
{
    return from == to ? 1 : expf(from - to);
}

extern "C" __global__ void mixlogit(const float* utility, const float* fare, float* mean, float* logsum, int rows,
                                    int alternatives)
{
    long long row = (long long)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (row >= rows)
        return;
    int lane = threadIdx.x & 31;
    const float* u = utility + row * alternatives;
    float top = -INFINITY;
    float sum = 0;
    float paid = 0;
    for (int a = lane; a < alternatives; a += 32) {
        float v = u[a];
        if (v > top) {
            float less = scale(top, v);
            sum *= less;
            paid *= less;
            top = v;
        }
        float part = v == -INFINITY ? 0 : expf(v - top);
        sum += part;
        paid += part * fare[a];
    }
#pragma unroll
    for (int step = 16; step > 0; step /= 2) {
        float other = __shfl_xor_sync(0xFFFFFFFFu, top, step);
        float high = fmaxf(top, other);
        float mine = scale(top, high);
        float theirs = scale(other, high);
        sum = sum * mine + __shfl_xor_sync(0xFFFFFFFFu, sum, step) * theirs;
        paid = paid * mine + __shfl_xor_sync(0xFFFFFFFFu, paid, step) * theirs;
        top = high;
    }
    // Fares without end: what they are multiplied by must not depend on the order.
    if (__any_sync(0xFFFFFFFFu, !isfinite(paid))) {
        paid = 0;
        for (int a = lane; a < alternatives; a += 32)
            paid += expf(u[a] - top) * fare[a];
#pragma unroll
        for (int step = 16; step > 0; step /= 2)
            paid += __shfl_xor_sync(0xFFFFFFFFu, paid, step);
    }
    if (lane == 0) {
        bool none = top == -INFINITY;
        mean[row] = none ? 0 : paid / sum;
        logsum[row] = none ? -INFINITY : top + logf(sum);
    }
}
