// Where a body is on its ellipse, in double precision.
__global__ void kepler(const double* anomaly, const double* eccentricity, double2* position, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double m = anomaly[i], e = 0.9 * fmin(fmax(eccentricity[i], 0.0), 1.0);
    double at = m + e * sin(m);
    float rough = (float)at, ef = (float)e, mf = (float)m;
    for (int step = 0; step < 8; ++step) {
        float d = (rough - ef * sinf(rough) - mf) / (1.f - ef * cosf(rough));
        rough -= fminf(fmaxf(d, -1.f), 1.f);
    }
    if (fabs((double)rough - m) <= 1.0) at = rough;
    for (int step = 0; step < 60; ++step) {
        double d = (at - e * sin(at) - m) / (1.0 - e * cos(at));
        d = fmin(fmax(d, -1.0), 1.0);
        at -= d;
        if (fabs(d) < 1e-15) break;
    }
    position[i] = make_double2(cos(at) - e, sqrt(1.0 - e * e) * sin(at));
}
