// Waiting times at single counters: one line of customers per row, first come first served.
// gap is the time between the arrivals of customer i and i+1, serve the time that customer i takes.
__global__ void queue(const int* gap, const int* serve, int* wait, int* idle, int rows, int n) {
    int row = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (row >= rows) return;
    bool both = row + 1 < rows;
    const int* g = gap + (size_t)row * n;
    const int* s = serve + (size_t)row * n;
    int* out = wait + (size_t)row * n;
    unsigned w = 0;
    int unused0 = 0, unused1 = 0;
    for (int i = 0; i < n; ++i) {
        out[i] = w & 0xffff;
        unsigned in = s[i], go = g[i];
        if (both) {
            out[n + i] = w >> 16;
            in |= (unsigned)s[n + i] << 16;
            go |= (unsigned)g[n + i] << 16;
        }
        w = __vadd2(w, in);
        unsigned served = __vminu2(w, go);
        unsigned none = __vsub2(go, served);
        w = __vsub2(w, served);
        unused0 += none & 0xffff;
        unused1 += none >> 16;
    }
    idle[row] = unused0;
    if (both) idle[row + 1] = unused1;
}
