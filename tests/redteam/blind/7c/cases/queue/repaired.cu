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
    int w = 0, total = 0;
    for (int i = from; i < to; ++i) {
        int d = s[i] - g[i];
        out[i] = w;
        total += d;
        w = max(w + d, 0);
    }
    int sum = total, end = w;
    // each segment's end, given what the one before leaves; whoever gets through empties it
    int in = 0;
    for (int k = 1; k < 32; ++k) {
        int left = __shfl_sync(~0u, end, k - 1);
        if (lane == k) {
            in = left;
            end = max(in + total, end);
        }
    }
    int more = in;
    for (int i = from; i < to && more > 0; ++i) {
        out[i] += more;
        int d = s[i] - g[i];
        if (out[i] + d < 0) more = 0;               // both are empty from here on
        else if (out[i] - more + d < 0) more -= min(more, -d);
    }
    sum = __reduce_add_sync(~0u, sum);
    int last = __shfl_sync(~0u, end, 31);
    if (lane == 0) idle[row] = last - sum;
}
