// Areas of parcels, a thread for each. A corner's sine is taken once, and what a sum loses is added to the next part.
__global__ void parcels(const float* lon, const float* lat, double* area, int n, int corners) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= n) return;
    const float *x = lon + (size_t)p * corners, *y = lat + (size_t)p * corners;
    double sum = 0., lost = 0., a = x[0], s = sin((double)y[0]), first = a, top = s;
    for (int i = 1; i <= corners; ++i) {
        double b = i < corners ? x[i] : first, u = i < corners ? sin((double)y[i]) : top;
        double part = (b - a) * (2. + s + u) - lost, next = sum + part;
        lost = (next - sum) - part;
        sum = next;
        a = b;
        s = u;
    }
    area[p] = 0.5 * sum;
}
