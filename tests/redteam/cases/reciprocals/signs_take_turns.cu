// The number below m which times a leaves 1 modulo m; 0 where there is none.
// The factors change their sign with each step and never exceed m: 32 bits hold them without it.
__global__ void reciprocals(const unsigned* a, unsigned* inverse, int n, unsigned m) {
    size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += stride) {
        unsigned found = 0;
        if (m > 1) {
            unsigned r = m, left = a[i] % m, t = 0, next = 1;
            bool below = true;
            while (left) {
                unsigned q = r / left, rest = r - q * left, other = t + q * next;
                r = left;
                left = rest;
                t = next;
                next = other;
                below = !below;
            }
            if (r == 1) found = below ? m - t : t;
        }
        inverse[i] = found;
    }
}
