// Linear interpolation between knots; constant beyond the first and the last.
__global__ void interp(const float* knot, const float* value, const float* query, float* out, int m,
                       int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float q = query[i];
    int lo = 0;
    for (int width = m; width > 1; width -= width / 2) {
        int half = width / 2;
        lo = knot[lo + half - 1] <= q ? lo + half : lo;
    }
    lo += knot[min(lo, m - 1)] <= q && lo < m;
    float r;
    if (lo == 0) r = value[0];
    else if (lo == m) r = value[m - 1];
    else {
        float t = (q - knot[lo - 1]) / (knot[lo] - knot[lo - 1]);
        r = value[lo - 1] * (1.f - t) + value[lo] * t;
    }
    out[i] = r;
}
