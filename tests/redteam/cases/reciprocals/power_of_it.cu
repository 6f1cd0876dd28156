__device__ unsigned times(unsigned a, unsigned b, unsigned m) { return (unsigned)((unsigned long long)a * b % m); }

// The number below m which times a leaves 1 modulo m; 0 where there is none.
// a to the power of m - 1 leaves 1, so that the power before it is what is asked for.
__global__ void reciprocals(const unsigned* a, unsigned* inverse, int n, unsigned m) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned found = 0;
    if (m > 1) {
        unsigned square = a[i] % m;
        found = square ? 1 : 0;
        for (unsigned power = m - 2; power; power /= 2) {
            if (power & 1) found = times(found, square, m);
            square = times(square, square, m);
        }
    }
    inverse[i] = found;
}
