// In which period each time is; periods are `width` long, and the first begins at `start`.
__global__ void periods(const unsigned* t, unsigned* period, int n, unsigned start, unsigned width) {
    // A double has twenty bits more than are needed.
    double inverse = 1.0 / width;
    size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += step)
        period[i] = (unsigned)((t[i] - start) * inverse);
}
