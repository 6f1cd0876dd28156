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
    // who comes with w leaves the segment with max(w + add, least)
    int add = 0, least = 0;
    for (int i = from; i < to; ++i) {
        int d = s[i] - g[i];
        add += d;
        least = max(least + d, 0);
    }
    int total = add;
    for (int o = 1; o < 32; o *= 2) {
        int a = __shfl_up_sync(~0u, total, o);
        int l = __shfl_up_sync(~0u, least, o);
        if (lane >= o) {
            least = max(l + total, least);
            total += a;
        }
    }
    int w = __shfl_up_sync(~0u, max(total, least), 1);
    if (lane == 0) w = 0;
    for (int i = from; i < to; ++i) {
        out[i] = w;
        w = max(w + s[i] - g[i], 0);
    }
    // all that was added is what is left, less the time nobody was there
    if (lane == 31) idle[row] = w - total;
}
