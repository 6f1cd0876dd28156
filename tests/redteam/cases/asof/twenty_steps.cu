// An as-of join: for each trade the last quote that is not later than it, and what was bid then; -1 and nought where
// there is none. Quotes are in the order of their times, of which several may be the same. The search has no branches:
// as many steps for all, each half as long as the one before.
__global__ void asof(const int* quote, const float* bid, const int* trade, int* last, float* price, int m, int n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= n) return;
    int time = trade[i], at = 0;
#pragma unroll
    for (int step = 1 << 19; step; step /= 2)
        if (at + step <= m && quote[at + step - 1] <= time) at += step;
    last[i] = at - 1;
    price[i] = at ? bid[at - 1] : 0.f;
}
