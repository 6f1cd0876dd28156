// The largest sum of neighbours in each row; at least one of them is taken. Sums from the beginning of the
// row, less the lowest of those before.
__global__ void maxsub(const int* x, long long* best, int rows, int cols) {
    int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    const int* at = x + row * (size_t)cols;
    long long before = 0, lowest = 0, most = -(1ll << 60);
    for (int c = 0; c < cols; c += 32) {
        bool inside = c + lane < cols;
        long long sum = inside ? at[c + lane] : 0;
        for (int d = 1; d < 32; d *= 2) {
            long long v = __shfl_up_sync(0xffffffffu, sum, d);
            if (lane >= d) sum += v;
        }
        sum += before;
        long long low = __shfl_up_sync(0xffffffffu, sum, 1);
        if (lane == 0) low = before;
        low = min(low, lowest);
        for (int d = 1; d < 32; d *= 2) {
            long long v = __shfl_up_sync(0xffffffffu, low, d);
            if (lane >= d) low = min(low, v);
        }
        if (inside) most = max(most, sum - low);
        before = __shfl_sync(0xffffffffu, sum, 31);
        lowest = __shfl_sync(0xffffffffu, low, 31);
    }
    for (int d = 16; d; d /= 2) most = max(most, __shfl_down_sync(0xffffffffu, most, d));
    if (lane == 0) best[row] = most;
}
