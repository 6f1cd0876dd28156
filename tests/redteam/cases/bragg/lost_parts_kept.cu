// What an atom adds to a reflection: as much as it scatters, turned by its place.
__device__ void adds(double w, double x, double y, double z, double h, double k, double l, double* re, double* im) {
    double s, c;
    sincospi(2. * fma(h, x, fma(k, y, l * z)), &s, &c);
    *re = w * c;
    *im = w * s;
}

// Adds with what was lost before, as Neumaier does it.
__device__ void kept(double& sum, double& lost, double v) {
    double next = sum + v;
    lost += fabs(sum) >= fabs(v) ? sum - next + v : v - next + sum;
    sum = next;
}

// Structure factors of a crystal: a thread has a reflection, a block has 128 atoms at a time in shared memory.
__global__ void bragg(const double* place, const double* weight, const int* hkl, double2* f, int atoms, int m) {
    __shared__ double own[4][128];
    int t = threadIdx.x;
    size_t i = blockIdx.x * (size_t)128 + t;
    bool mine = i < m;
    double h = mine ? hkl[3 * i] : 0., k = mine ? hkl[3 * i + 1] : 0., l = mine ? hkl[3 * i + 2] : 0.;
    double2 sum = make_double2(0., 0.), lost = sum;
    for (size_t first = 0; first < atoms; first += 128) {
        int many = (int)min((size_t)128, atoms - first);
        if (t < many) {
            for (int d = 0; d < 3; ++d) own[d][t] = place[3 * (first + t) + d];
            own[3][t] = weight[first + t];
        }
        __syncthreads();
        for (int a = 0; a < many; ++a) {
            double re, im;
            adds(own[3][a], own[0][a], own[1][a], own[2][a], h, k, l, &re, &im);
            kept(sum.x, lost.x, re);
            kept(sum.y, lost.y, im);
        }
        __syncthreads();
    }
    // Where something was not finite there is nothing to be kept.
    if (isfinite(lost.x)) sum.x += lost.x;
    if (isfinite(lost.y)) sum.y += lost.y;
    if (mine) f[i] = sum;
}
