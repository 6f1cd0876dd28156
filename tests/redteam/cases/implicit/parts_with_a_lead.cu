// An implicit step of many systems of three diagonals whose middle one outweighs the others; row k of system s
// lies at k * systems + s. The factors of the forward pass are kept for the next right-hand side.
#define PART 64
#define LEAD 48
__global__ void implicit(const double* a, const double* c, const double* d, double* x, double* factor, int n,
                         int systems) {
    // Whatever lies far away in a system has faded: each part begins some rows before, and goes back from some
    // rows behind, so that the parts of a system are worked out side by side.
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= systems) return;
    double fs[PART + LEAD], ys[PART + LEAD];
    for (int first = blockIdx.y * PART; first < n; first += gridDim.y * PART) {
        int end = min(first + PART, n), reach = min(first + PART + LEAD, n);
        double f = 0., y = 0.;
        for (int k = max(first - LEAD, 0); k < reach; ++k) {
            size_t at = (size_t)k * systems + s;
            double low = k > 0 ? a[at] : 0., high = k + 1 < n ? c[at] : 0.;
            double m = 1. / (1. + fabs(low) + fabs(high) - low * f);
            f = high * m;
            y = (d[at] - low * y) * m;
            if (k < first) continue;
            fs[k - first] = f;
            ys[k - first] = y;
            if (k < end) factor[at] = f;
        }
        double v = ys[reach - 1 - first];
        for (int k = reach - 1; k >= first; --k) {
            if (k + 1 < reach) v = ys[k - first] - fs[k - first] * v;
            if (k < end) x[(size_t)k * systems + s] = v;
        }
    }
}
