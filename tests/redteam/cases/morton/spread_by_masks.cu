__device__ __forceinline__ unsigned long long apart(unsigned number) {
    unsigned long long v = number & 0x1fffff;
    v = (v | v << 32) & 0x001f00000000ffffull;
    v = (v | v << 16) & 0x001f0000ff0000ffull;
    v = (v | v << 8) & 0x100f00f00f00f00full;
    v = (v | v << 4) & 0x10c30c30c30c30c3ull;
    v = (v | v << 2) & 0x1249249249249249ull;
    return v;
}
// Where a point lies on a Z-shaped curve: the bits of three coordinates of 21 bits each by turns.
__global__ void morton(const unsigned* x, const unsigned* y, const unsigned* z, unsigned long long* code, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    code[i] = apart(x[i]) | apart(y[i]) << 1 | apart(z[i]) << 2;
}
