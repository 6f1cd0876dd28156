// An implicit step of many systems of three diagonals whose middle one outweighs the others; row k of system s
// lies at k * systems + s. The factors of the forward pass are kept for the next right-hand side.
__global__ void implicit(const double* a, const double* c, const double* d, double* x, double* factor, int n,
                         int systems) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= systems || n <= 0) return;
    size_t at = s, last = (size_t)(n - 1) * systems + s;
    double f = 0., y = 0., low = a[at], high = c[at], rhs = d[at];
    for (int k = 0; k < n; ++k, at += systems) {
        // The next row is on its way while this one is worked out.
        size_t next = k + 1 < n ? at + systems : last;
        double low1 = a[next], high1 = c[next], rhs1 = d[next];
        if (k == 0) low = 0.;
        if (k + 1 == n) high = 0.;
        double m = 1. / (1. + fabs(low) + fabs(high) - low * f);
        f = high * m;
        y = (rhs - low * y) * m;
        factor[at] = f;
        x[at] = y;
        low = low1, high = high1, rhs = rhs1;
    }
    at = last;
    for (int k = n - 2; k >= 0; --k) {
        at -= systems;
        y = x[at] - factor[at] * y;
        x[at] = y;
    }
}
