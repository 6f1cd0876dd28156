// What an atom adds to a reflection: as much as it scatters, turned by its place.
__device__ void adds(double w, double x, double y, double z, double h, double k, double l, double* re, double* im) {
    double s, c;
    sincospi(2. * fma(h, x, fma(k, y, l * z)), &s, &c);
    *re = w * c;
    *im = w * s;
}

// Structure factors of a crystal: a thread has a reflection, and all atoms.
__global__ void bragg(const double* place, const double* weight, const int* hkl, double2* f, int atoms, int m) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= m) return;
    double h = hkl[3 * i], k = hkl[3 * i + 1], l = hkl[3 * i + 2];
    double2 sum = make_double2(0., 0.);
    for (size_t a = 0; a < atoms; ++a) {
        double re, im;
        adds(weight[a], place[3 * a], place[3 * a + 1], place[3 * a + 2], h, k, l, &re, &im);
        sum.x += re;
        sum.y += im;
    }
    f[i] = sum;
}
