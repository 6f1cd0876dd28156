// An implicit step of many systems of three diagonals whose middle one outweighs the others; row k of system s
// lies at k * systems + s. The factors of the forward pass are kept for the next right-hand side.
__global__ void implicit(const double* a, const double* c, const double* d, double* x, double* factor, int n,
                         int systems) {
    int s = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (s >= systems) return;
    // Two systems side by side where both are there; rows are not aligned, so nothing is read as a pair.
    int more = s + 1 < systems ? 1 : 0;
    double f0 = 0., f1 = 0., y0 = 0., y1 = 0.;
    for (int k = 0; k < n; ++k) {
        size_t at = (size_t)k * systems + s;
        double low0 = k > 0 ? a[at] : 0., high0 = k + 1 < n ? c[at] : 0.;
        double low1 = k > 0 ? a[at + more] : 0., high1 = k + 1 < n ? c[at + more] : 0.;
        double m0 = 1. + fabs(low0) + fabs(high0) - low0 * f0, m1 = 1. + fabs(low1) + fabs(high1) - low1 * f1;
        f0 = high0 / m0;
        f1 = high1 / m1;
        y0 = (d[at] - low0 * y0) / m0;
        y1 = (d[at + more] - low1 * y1) / m1;
        // Alone, both are the same.
        factor[at] = f0;
        factor[at + more] = f1;
        x[at] = y0;
        x[at + more] = y1;
    }
    for (int k = n - 2; k >= 0; --k) {
        size_t at = (size_t)k * systems + s;
        double was = x[at + more];
        y0 = x[at] - factor[at] * y0;
        y1 = was - factor[at + more] * y1;
        x[at] = y0;
        x[at + more] = y1;
    }
}
