// Areas of parcels, by a warp for each. Latitudes are floats, and so are their sines; the sum is a double.
__global__ void parcels(const float* lon, const float* lat, double* area, int n, int corners) {
    int p = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (p >= n) return;
    const float *x = lon + (size_t)p * corners, *y = lat + (size_t)p * corners;
    double sum = 0.;
    for (int i = lane; i < corners; i += 32) {
        int k = i + 1 < corners ? i + 1 : 0;
        sum += ((double)x[k] - x[i]) * (2. + sinf(y[i]) + sinf(y[k]));
    }
    for (int w = 16; w > 0; w /= 2) sum += __shfl_down_sync(~0u, sum, w);
    if (lane == 0) area[p] = 0.5 * sum;
}
