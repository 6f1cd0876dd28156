// The first of the thresholds that part a histogram into two groups with the largest variance between them.
__global__ void otsu(const int* hist, int* out, int rows, int bins) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const int* h = hist + (size_t)r * bins;
    long long all = 0, total = 0;
    for (int k = 0; k < bins; ++k) all += h[k], total += (long long)k * h[k];
    long long below = 0, sum = 0;
    double best = -1.0;
    int at = 0;
    for (int k = 0; k < bins; ++k) {
        below += h[k];
        sum += (long long)k * h[k];
        if (below == 0 || below == all) continue;
        double d = (double)(sum * all - total * below);
        double between = d * d / ((double)below * (double)(all - below));
        if (between > best) best = between, at = k;
    }
    out[r] = at;
}
