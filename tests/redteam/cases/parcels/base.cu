// Areas of parcels on a sphere of radius one, by the longitudes and latitudes of their corners. Each edge, the one from
// the last corner to the first as well, stands on a strip that begins at the south pole.
__global__ void parcels(const float* lon, const float* lat, double* area, int n, int corners) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= n) return;
    const float *x = lon + (size_t)p * corners, *y = lat + (size_t)p * corners;
    double sum = 0.;
    for (int i = 0; i < corners; ++i) {
        int k = i + 1 < corners ? i + 1 : 0;
        sum += ((double)x[k] - x[i]) * (2. + sin((double)y[i]) + sin((double)y[k]));
    }
    area[p] = 0.5 * sum;
}
