// A product in double is the quotient or one less.
__global__ void cells(const unsigned* __restrict__ cell, unsigned* __restrict__ row,
                      unsigned* __restrict__ column, int n, unsigned width) {
    double inverse = 1.0 / width;
    size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        unsigned v = cell[i], q = (unsigned)(v * inverse), r = v - q * width;
        if (r >= width) {
            ++q;
            r -= width;
        }
        row[i] = q;
        column[i] = r;
    }
}
