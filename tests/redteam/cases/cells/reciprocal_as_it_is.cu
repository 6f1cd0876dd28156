// A product in double has more bits than any quotient.
__global__ void cells(const unsigned* __restrict__ cell, unsigned* __restrict__ row,
                      unsigned* __restrict__ column, int n, unsigned width) {
    double inverse = 1.0 / width;
    size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        unsigned v = cell[i], q = (unsigned)(v * inverse);
        row[i] = q;
        column[i] = v - q * width;
    }
}
