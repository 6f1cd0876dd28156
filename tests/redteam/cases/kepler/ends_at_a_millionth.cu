// Where a body is on its ellipse, in double precision.
__global__ void kepler(const double* anomaly, const double* eccentricity, double2* position, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double m = anomaly[i], e = 0.9 * fmin(fmax(eccentricity[i], 0.0), 1.0);
    double at = m + e * sin(m);
    for (int step = 0; step < 60; ++step) {
        double d = (at - e * sin(at) - m) / (1.0 - e * cos(at));
        d = fmin(fmax(d, -1.0), 1.0);
        at -= d;
        if (fabs(d) < 1e-4) break;
    }
    position[i] = make_double2(cos(at) - e, sqrt(1.0 - e * e) * sin(at));
}
