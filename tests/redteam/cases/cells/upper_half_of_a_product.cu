// One division of a block: a 64-bit number just above 2^64 / width, with which the upper half of a
// product is the quotient of every word of 32 bits.
__global__ void cells(const unsigned* __restrict__ cell, unsigned* __restrict__ row,
                      unsigned* __restrict__ column, int n, unsigned width) {
    __shared__ unsigned long long shared_factor;
    if (threadIdx.x == 0) shared_factor = ~0ull / width + 1ull;
    __syncthreads();
    unsigned long long factor = shared_factor;
    unsigned first = blockIdx.x * 1024 + threadIdx.x;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        unsigned i = first + 256 * k;
        if (i >= (unsigned)n) return;
        unsigned v = cell[i];
        // The factor of 1 does not fit into 64 bits.
        unsigned q = width == 1u ? v : (unsigned)__umul64hi(factor, v);
        row[i] = q;
        column[i] = v - q * width;
    }
}
