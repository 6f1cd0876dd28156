// A choice among alternatives: row r chooses a with a chance of exp(utility[r][a]) / sum over all of them. Out come
// the mean fare of what it chooses and the log of the sum. A utility of minus infinity is an alternative that row has
// not got; a row that has none at all has a mean of 0 and a log of minus infinity.
// A warp to a row, four utilities to a lane at a time.
extern "C" __global__ void mixlogit(const float* utility, const float* fare, float* mean, float* logsum, int rows,
                                    int alternatives)
{
    long long row = (long long)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (row >= rows)
        return;
    int lane = threadIdx.x & 31;
    const float* u = utility + row * alternatives;
    float top = -INFINITY;
    for (int a = 4 * lane; a + 3 < alternatives; a += 128)
        top = fmaxf(fmaxf(top, fmaxf(u[a], u[a + 1])), fmaxf(u[a + 2], u[a + 3]));
    for (int step = 16; step > 0; step /= 2)
        top = fmaxf(top, __shfl_xor_sync(0xFFFFFFFFu, top, step));
    float sum = 0;
    float paid = 0;
    for (int a = 4 * lane; a + 3 < alternatives; a += 128)
#pragma unroll
        for (int k = 0; k < 4; k++) {
            float part = expf(u[a + k] - top);
            sum += part;
            paid += part * fare[a + k];
        }
    for (int step = 16; step > 0; step /= 2) {
        sum += __shfl_xor_sync(0xFFFFFFFFu, sum, step);
        paid += __shfl_xor_sync(0xFFFFFFFFu, paid, step);
    }
    if (lane == 0) {
        bool none = top == -INFINITY;
        mean[row] = none ? 0 : paid / sum;
        logsum[row] = none ? -INFINITY : top + logf(sum);
    }
}
