// Waiting times at single counters: one line of customers per row, first come first served.
// gap is the time between the arrivals of customer i and i+1, serve the time that customer i takes.
__global__ void queue(const int* gap, const int* serve, int* wait, int* idle, int rows, int n) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x & 31;
    if (row >= rows) return;
    const int* g = gap + (size_t)row * n;
    const int* s = serve + (size_t)row * n;
    int* out = wait + (size_t)row * n;
    int before = 0, lowest = 0;
    for (int base = 0; base < n; base += 32) {
        int i = base + lane;
        int d = i < n ? s[i] - g[i] : 0;
        int p = d;
        for (int o = 1; o < 32; o *= 2) {
            int t = __shfl_up_sync(~0u, p, o);
            if (lane >= o) p += t;
        }
        p += before;
        int m = min(p, lowest);
        for (int o = 1; o < 32; o *= 2) {
            int t = __shfl_up_sync(~0u, m, o);
            m = min(m, t);
        }
        int m_excl = __shfl_up_sync(~0u, m, 1);
        if (lane == 0) m_excl = lowest;
        if (i < n) out[i] = p - d - m_excl;
        before = __shfl_sync(~0u, p, 31);
        lowest = __shfl_sync(~0u, m, 31);
    }
    if (lane == 0) idle[row] = -lowest;
}
