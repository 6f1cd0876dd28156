// Waiting times at single counters: one line of customers per row, first come first served.
// gap is the time between the arrivals of customer i and i+1, serve the time that customer i takes.
__global__ void queue(const int* gap, const int* serve, int* wait, int* idle, int rows, int n) {
    __shared__ int sums[4], mins[4];
    __shared__ int carry, unused;
    int row = blockIdx.x;
    int t = threadIdx.x, lane = t & 31, warp = t / 32;
    const int* g = gap + (size_t)row * n;
    const int* s = serve + (size_t)row * n;
    int* out = wait + (size_t)row * n;
    if (t == 0) carry = 0, unused = 0;
    __syncthreads();
    for (int base = 0; base < n; base += 128) {
        int i = base + t;
        int d = i < n ? s[i] - g[i] : 0;
        int p = d;
        for (int o = 1; o < 32; o *= 2) {
            int x = __shfl_up_sync(~0u, p, o);
            if (lane >= o) p += x;
        }
        int m = p;
        for (int o = 1; o < 32; o *= 2) {
            int x = __shfl_up_sync(~0u, m, o);
            if (lane >= o) m = min(m, x);
        }
        if (lane == 31) sums[warp] = p, mins[warp] = m;
        __syncthreads();
        int w = carry;
        int low = -w, at = 0;
        for (int k = 0; k < warp; ++k) {
            low = min(low, at + mins[k]);
            at += sums[k];
        }
        int m_excl = __shfl_up_sync(~0u, m, 1);
        int floor_ = lane ? min(low, at + m_excl) : low;
        if (i < n) out[i] = at + p - d - floor_;
        if (t == 127) {
            int last = min(low, at + m);
            unused += -w - last;
            carry = at + p - last;
        }
        __syncthreads();
    }
    if (t == 0) idle[row] = unused;
}
