// One division of a block: a 32-bit factor and a shift in place of all the others.
__global__ void cells(const unsigned* __restrict__ cell, unsigned* __restrict__ row,
                      unsigned* __restrict__ column, int n, unsigned width) {
    __shared__ unsigned shared_factor;
    int shift = 31 - __clz(width);
    if (threadIdx.x == 0)
        shared_factor = (unsigned)(((1ull << (32 + shift)) + width - 1) / width);
    __syncthreads();
    unsigned factor = shared_factor;
    bool power = (width & (width - 1)) == 0;
    unsigned first = blockIdx.x * 1024 + threadIdx.x;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        unsigned i = first + 256 * k;
        if (i >= (unsigned)n) return;
        unsigned v = cell[i];
        unsigned q = power ? v >> shift : __umulhi(v, factor) >> shift;
        row[i] = q;
        column[i] = v - q * width;
    }
}
