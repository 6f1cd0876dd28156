// The number below m which times a leaves 1 modulo m; 0 where there is none.
__global__ void reciprocals(const unsigned* a, unsigned* inverse, int n, unsigned m) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (m < 2) {
        inverse[i] = 0;
        return;
    }
    unsigned r = m, left = a[i] % m;
    long long t = 0, next = 1;
    while (left) {
        unsigned q = r / left, rest = r - q * left;
        long long other = t - (long long)q * next;
        r = left;
        left = rest;
        t = next;
        next = other;
    }
    inverse[i] = r == 1 ? (unsigned)(t < 0 ? t + m : t) : 0;
}
