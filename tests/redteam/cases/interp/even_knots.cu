// Linear interpolation between knots; constant beyond the first and the last.
__global__ void interp(const float* knot, const float* value, const float* query, float* out, int m,
                       int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float q = query[i];
    int lo = 0, hi = m;
    lo = min(max((int)((q - knot[0]) / (knot[m - 1] - knot[0]) * (m - 1)), 0), m);
    for (int step = 0; step < 200 && lo < m && knot[lo] <= q; ++step) ++lo;
    for (int step = 0; step < 200 && lo > 0 && knot[lo - 1] > q; ++step) --lo;
    float r;
    if (lo == 0) r = value[0];
    else if (lo == m) r = value[m - 1];
    else {
        float t = (q - knot[lo - 1]) / (knot[lo] - knot[lo - 1]);
        r = value[lo - 1] * (1.f - t) + value[lo] * t;
    }
    out[i] = r;
}
