// An implicit step of many systems of three diagonals whose middle one outweighs the others; row k of system s
// lies at k * systems + s. The factors of the forward pass are kept for the next right-hand side.
__global__ void implicit(const double* a, const double* c, const double* d, double* x, double* factor, int n,
                         int systems) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= systems) return;
    double f = 0., y = 0.;
    for (int k = 0; k < n; ++k) {
        size_t at = (size_t)k * systems + s;
        double low = k > 0 ? a[at] : 0., high = k + 1 < n ? c[at] : 0.;
        double m = 1. + fabs(low) + fabs(high) - low * f;
        f = high / m;
        y = (d[at] - low * y) / m;
        factor[at] = f;
        x[at] = y;
    }
    for (int k = n - 2; k >= 0; --k) {
        size_t at = (size_t)k * systems + s;
        x[at] -= factor[at] * x[at + systems];
    }
}
