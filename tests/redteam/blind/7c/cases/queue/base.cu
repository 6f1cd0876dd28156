// Waiting times at single counters: one line of customers per row, first come first served.
// gap is the time between the arrivals of customer i and i+1, serve the time that customer i takes.
__global__ void queue(const int* gap, const int* serve, int* wait, int* idle, int rows, int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const int* g = gap + (size_t)row * n;
    const int* s = serve + (size_t)row * n;
    int* out = wait + (size_t)row * n;
    int w = 0, unused = 0;
    for (int i = 0; i < n; ++i) {
        out[i] = w;
        w += s[i] - g[i];
        if (w < 0) {
            unused -= w;
            w = 0;
        }
    }
    idle[row] = unused;
}
