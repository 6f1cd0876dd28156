struct Run {
    long long sum, head, tail, best;
};

__device__ Run joined(Run a, Run b) {
    return {a.sum + b.sum, max(a.head, a.sum + b.head), max(b.tail, b.sum + a.tail),
            max(max(a.best, b.best), a.tail + b.head)};
}

__device__ Run from(Run a, int d) {
    return {__shfl_down_sync(0xffffffffu, a.sum, d), __shfl_down_sync(0xffffffffu, a.head, d),
            __shfl_down_sync(0xffffffffu, a.tail, d), __shfl_down_sync(0xffffffffu, a.best, d)};
}

// The largest sum of neighbours in each row; at least one of them is taken. Lanes have a part of the row
// each, joined in their order; a lane without one has what can never be the best.
__global__ void maxsub(const int* x, long long* best, int rows, int cols) {
    int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    const int* at = x + row * (size_t)cols;
    int part = (cols + 31) / 32, begin = min(cols, lane * part), end = min(cols, begin + part);
    Run own = {0, -(1ll << 60), -(1ll << 60), -(1ll << 60)};
    for (int c = begin; c < end; ++c) {
        long long v = at[c];
        own = joined(own, {v, v, v, v});
    }
    for (int d = 1; d < 32; d *= 2) {
        Run next = from(own, d);
        if (lane + d < 32) own = joined(own, next);
    }
    if (lane == 0) best[row] = own.best;
}
