// A choice among alternatives: row r chooses a with a chance of exp(utility[r][a]) / sum over all of them. Out come
// the mean fare of what it chooses and the log of the sum. A utility of minus infinity is an alternative that row has
// not got; a row that has none at all has a mean of 0 and a log of minus infinity.
// A warp to a row.
extern "C" __global__ void mixlogit(const float* utility, const float* fare, float* mean, float* logsum, int rows,
                                    int alternatives)
{
    long long row = (long long)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (row >= rows)
        return;
    int lane = threadIdx.x & 31;
    const float* u = utility + row * alternatives;
    float sum = 0;
    float paid = 0;
    for (int a = lane; a < alternatives; a += 32) {
        float part = expf(u[a]);
        sum += part;
        paid += part * fare[a];
    }
    for (int step = 16; step > 0; step /= 2) {
        sum += __shfl_xor_sync(0xFFFFFFFFu, sum, step);
        paid += __shfl_xor_sync(0xFFFFFFFFu, paid, step);
    }
    if (lane == 0) {
        bool none = sum == 0;
        mean[row] = none ? 0 : paid / sum;
        logsum[row] = none ? -INFINITY : logf(sum);
    }
}
