// Every loan month by month: interest in parts per million, rounded half up to whole cents,
// then the payment; the last payment is what is left.
__global__ void annuity(const int* balance, const int* rate, const int* pay,
                        int* months, long long* interest, long long* left, int n, int horizon)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int k = min(i, n - 1);
    long long b = balance[k];
    long long r = rate[i], p = pay[i];
    // portfolios repeat: a loan like its left neighbour in the warp is not worked out again
    int lane = threadIdx.x & 31;
    unsigned key = ((unsigned)b << 7) ^ ((unsigned)r << 15) ^ (unsigned)p;
    unsigned before = __shfl_up_sync(0xffffffffu, key, 1);
    bool own = lane == 0 || before != key;
    unsigned firsts = __ballot_sync(0xffffffffu, own);
    int from = 31 - __clz(firsts & (0xffffffffu >> (31 - lane)));
    long long total = 0;
    int m = 0;
    while (own && b > 0 && m < horizon) {
        long long in = (b * r + 500000) / 1000000;
        total += in;
        b = b + in - p;
        if (b < 0) b = 0;
        m++;
    }
    m = __shfl_sync(0xffffffffu, m, from);
    total = __shfl_sync(0xffffffffu, total, from);
    b = __shfl_sync(0xffffffffu, b, from);
    if (i >= n) return;
    months[i] = m;
    interest[i] = total;
    left[i] = b;
}
