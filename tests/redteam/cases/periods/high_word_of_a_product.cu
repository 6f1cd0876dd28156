// In which period each time is; periods are `width` long, and the first begins at `start`.
__global__ void periods(const unsigned* t, unsigned* period, int n, unsigned start, unsigned width) {
    // The division becomes a product and a shift, as a compiler does it for a known width.
    int shift = 31 - __clz(width);
    unsigned factor = 0u;
    bool power = (width & (width - 1)) == 0;
    if (!power) factor = (unsigned)((1ull << (32 + shift)) / width + 1);
    size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += step) {
        unsigned v = t[i] - start;
        period[i] = (power ? v : __umulhi(v, factor)) >> shift;
    }
}
