__device__ unsigned inverted(unsigned a, unsigned m) {
    unsigned r = m, left = a;
    long long t = 0, next = 1;
    while (left) {
        unsigned q = r / left, rest = r - q * left;
        long long other = t - (long long)q * next;
        r = left;
        left = rest;
        t = next;
        next = other;
    }
    return r == 1 ? (unsigned)(t < 0 ? t + m : t) : 0;
}

__device__ unsigned times(unsigned a, unsigned b, unsigned m) { return (unsigned)((unsigned long long)a * b % m); }

// The number below m which times a leaves 1 modulo m; 0 where there is none.
// The reciprocal of a product of four is taken apart; where the product has none, each is looked at.
__global__ void reciprocals(const unsigned* a, unsigned* inverse, int n, unsigned m) {
    size_t begin = blockIdx.x * (size_t)1024 + threadIdx.x;
    unsigned v[4], upto[4], all = 1;
    for (int k = 0; k < 4; ++k) {
        size_t i = begin + k * 256;
        v[k] = i < n && m > 1 ? a[i] % m : 1;
        upto[k] = all;
        if (m > 1) all = times(all, v[k], m);
    }
    unsigned whole = m > 1 ? inverted(all, m) : 0;
    for (int k = 3; k >= 0; --k) {
        size_t i = begin + k * 256;
        unsigned own = 0;
        if (whole) {
            own = times(whole, upto[k], m);
            whole = times(whole, v[k], m);
        } else if (m > 1) {
            own = inverted(v[k], m);
        }
        if (i < n) inverse[i] = own;
    }
}
