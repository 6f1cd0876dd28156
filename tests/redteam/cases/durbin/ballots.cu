// The Durbin-Watson statistic of the residuals in each row, and how often they change between negative and not
// negative. Rows without any power, or with a gap (NaN), have the statistic zero.
#define WARPS 4

__global__ void durbin(const float* __restrict__ e, float* __restrict__ statistic, int* __restrict__ flips, int rows,
                       int n)
{
    const int row = blockIdx.x * WARPS + threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    const float* mine = e + (long long)row * n;
    float d2 = 0.0f, s2 = 0.0f;
    int c = 0;
    unsigned carried = 0;
    for (int begin = 0; begin < n; begin += 32) {
        const int i = begin + lane;
        const float here = i < n ? mine[i] : 0.0f;
        float before = __shfl_up_sync(0xffffffffu, here, 1);
        if (lane == 0 && begin > 0)
            before = mine[begin - 1];
        s2 += here * here;
        if (i > 0 && i < n)
            d2 += (here - before) * (here - before);
        const unsigned signs = __ballot_sync(0xffffffffu, here < 0.0f);
        unsigned valid = n - begin < 32 ? (1u << (n - begin)) - 1 : 0xffffffffu;
        if (begin == 0)
            valid &= ~1u;
        c += __popc((signs ^ (signs << 1 | carried)) & valid);
        carried = signs >> 31;
    }
    for (int step = 16; step > 0; step /= 2) {
        d2 += __shfl_xor_sync(0xffffffffu, d2, step);
        s2 += __shfl_xor_sync(0xffffffffu, s2, step);
    }
    if (lane == 0) {
        statistic[row] = s2 > 0.0f ? d2 / s2 : 0.0f;
        flips[row] = c;
    }
}
