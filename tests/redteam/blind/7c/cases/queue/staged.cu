// Waiting times at single counters: one line of customers per row, first come first served.
// gap is the time between the arrivals of customer i and i+1, serve the time that customer i takes.
__global__ void queue(const int* gap, const int* serve, int* wait, int* idle, int rows, int n) {
    __shared__ int tile[4][32][33];
    int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    int first = (blockIdx.x * 4 + warp) * 32;
    int here = min(32, rows - first);
    if (here <= 0) return;
    int (*d)[33] = tile[warp];
    int w = 0, unused = 0;
    for (int base = 0; base < n; base += 32) {
        int i = base + lane;
        for (int r = 0; r < here; ++r) {
            size_t at = (size_t)(first + r) * n + i;
            d[r][lane] = i < n ? serve[at] - gap[at] : 0;
        }
        __syncwarp();
        if (lane < here)
            for (int k = 0; k < 32; ++k) {
                int change = d[lane][k];
                d[lane][k] = w;
                w += change;
                unused += max(-w, 0);
                w = max(w, 0);
            }
        __syncwarp();
        if (i < n)
            for (int r = 0; r < here; ++r) wait[(size_t)(first + r) * n + i] = d[r][lane];
    }
    if (lane < here) idle[first + lane] = unused;
}
