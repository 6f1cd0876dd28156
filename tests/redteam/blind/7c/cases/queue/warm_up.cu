// Waiting times at single counters: one line of customers per row, first come first served.
// gap is the time between the arrivals of customer i and i+1, serve the time that customer i takes.
__global__ void queue(const int* gap, const int* serve, int* wait, int* idle, int rows, int n) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x & 31;
    if (row >= rows) return;
    const int* g = gap + (size_t)row * n;
    const int* s = serve + (size_t)row * n;
    int* out = wait + (size_t)row * n;
    int each = (n + 31) / 32;
    int from = min(n, lane * each), to = min(n, from + each);
    // go back to where the counter must have been free: its whole backlog is worked off by then
    int w = 0, start = from, sum = 0, deepest = 0;
    for (int k = from - 1; k >= max(0, from - 512); --k) {
        sum += s[k] - g[k];
        if (sum > deepest) deepest = sum, start = k;
    }
    for (int k = start; k < from; ++k) w = max(w + s[k] - g[k], 0);
    int unused = 0;
    for (int i = from; i < to; ++i) {
        out[i] = w;
        w += s[i] - g[i];
        if (w < 0) {
            unused -= w;
            w = 0;
        }
    }
    unused = __reduce_add_sync(~0u, unused);
    if (lane == 0) idle[row] = unused;
}
