// Each place keeps the largest of what it had and of the values sent to it. What is no number is larger
// than nothing.
__global__ void scattermax(const int* at, const float* v, float* top, int n, int m) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= n) return;
    int k = at[i];
    if (k < 0 || k >= m) return;
    unsigned* place = (unsigned*)(top + k);
    unsigned held = *(volatile unsigned*)place;
    while (v[i] > __uint_as_float(held)) {
        unsigned found = atomicCAS(place, held, __float_as_uint(v[i]));
        if (found == held) break;
        held = found;
    }
}
