// In which period each time is; periods are `width` long, and the first begins at `start`.
__global__ void periods(const unsigned* t, unsigned* period, int n, unsigned start, unsigned width) {
    // The quotient by the reciprocal is right or one too small.
    double inverse = 1.0 / width;
    size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += step) {
        unsigned v = t[i] - start;
        unsigned q = (unsigned)(v * inverse);
        if (v - q * width >= width) ++q;
        period[i] = q;
    }
}
