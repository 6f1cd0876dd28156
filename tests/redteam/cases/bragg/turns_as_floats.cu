// What an atom adds to a reflection: as much as it scatters, turned by its place.
__device__ void adds(double w, double x, double y, double z, double h, double k, double l, double* re, double* im) {
    // Whole turns are left out as doubles; what is left is turned as a float.
    double turn = fma(h, x, fma(k, y, l * z));
    float s, c;
    sincospif(2.f * (float)(turn - rint(turn)), &s, &c);
    *re = w * c;
    *im = w * s;
}

// Structure factors of a crystal: a warp has a reflection.
__global__ void bragg(const double* place, const double* weight, const int* hkl, double2* f, int atoms, int m) {
    size_t i = (blockIdx.x * (size_t)blockDim.x + threadIdx.x) / 32;
    if (i >= m) return;
    double h = hkl[3 * i], k = hkl[3 * i + 1], l = hkl[3 * i + 2];
    double2 sum = make_double2(0., 0.);
    for (size_t a = threadIdx.x % 32; a < atoms; a += 32) {
        double re, im;
        adds(weight[a], place[3 * a], place[3 * a + 1], place[3 * a + 2], h, k, l, &re, &im);
        sum.x += re;
        sum.y += im;
    }
    for (int s = 16; s; s /= 2) {
        sum.x += __shfl_xor_sync(0xffffffffu, sum.x, s);
        sum.y += __shfl_xor_sync(0xffffffffu, sum.y, s);
    }
    if (threadIdx.x % 32 == 0) f[i] = sum;
}
