// Areas of parcels, by a warp for each. A lane takes the sine of its own corner and has that of the next one by a
// shuffle; the last lane with a corner reads the next one, or the first of all, itself.
__global__ void parcels(const float* lon, const float* lat, double* area, int n, int corners) {
    int p = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (p >= n) return;
    const float *x = lon + (size_t)p * corners, *y = lat + (size_t)p * corners;
    double sum = 0.;
    for (int i0 = 0; i0 < corners; i0 += 32) {
        int i = i0 + lane, last = min(31, corners - 1 - i0);
        double a = i < corners ? x[i] : 0., s = i < corners ? sin((double)y[i]) : 0.;
        double b = __shfl_down_sync(~0u, a, 1), u = __shfl_down_sync(~0u, s, 1);
        if (lane == last) {
            int k = i + 1 < corners ? i + 1 : 0;
            b = x[k];
            u = sin((double)y[k]);
        }
        if (lane <= last) sum += (b - a) * (2. + s + u);
    }
    for (int w = 16; w > 0; w /= 2) sum += __shfl_down_sync(~0u, sum, w);
    if (lane == 0) area[p] = 0.5 * sum;
}
