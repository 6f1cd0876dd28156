// Amount of the third member of a decay chain after a time: parent -> second -> third, which
// decays itself. It is parent * x * y * E[x, y, z], the second divided difference of exp(-u) over
// x, y, z, the three rates times the time; rates may be alike.

// (exp(-a) - exp(-b)) / (b - a)
__device__ double slope(double a, double b) {
    double d = b - a;
    return exp(-a) * (d < 1e-5 ? 1.0 - 0.5 * d : -expm1(-d) / d);
}

__device__ double curvature(double x, double y, double z) {
    double lo = fmin(fmin(x, y), z), hi = fmax(fmax(x, y), z);
    double mid = fmax(fmin(x, y), fmin(fmax(x, y), z));
    if (hi - lo < 1e-7)
        return 0.5 * exp(-(lo + mid + hi) / 3.0);
    return (slope(lo, mid) - slope(mid, hi)) / (hi - lo);
}

__global__ void nuclide(const float* parent, const float* first, const float* second,
                        const float* third, const float* time, float* amount, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double t = fabs((double)time[i]);
    double x = fabs((double)first[i]) * t;
    double y = fabs((double)second[i]) * t;
    double z = fabs((double)third[i]) * t;
    amount[i] = (float)(parent[i] * x * y * curvature(x, y, z));
}
