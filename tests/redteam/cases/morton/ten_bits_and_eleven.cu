__device__ __forceinline__ unsigned apart(unsigned v) {
    v &= 0x3ff;
    v = (v | v << 16) & 0x030000ff;
    v = (v | v << 8) & 0x0300f00f;
    v = (v | v << 4) & 0x030c30c3;
    v = (v | v << 2) & 0x09249249;
    return v;
}
// Where a point lies on a Z-shaped curve: the bits of three coordinates of 21 bits each by turns.
__global__ void morton(const unsigned* x, const unsigned* y, const unsigned* z, unsigned long long* code, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned a = x[i], b = y[i], c = z[i];
    // Words of 32 bits are cheaper than one of 64: ten bits of each coordinate, and those above them.
    unsigned low = apart(a) | apart(b) << 1 | apart(c) << 2;
    unsigned high = apart(a >> 10) | apart(b >> 10) << 1 | apart(c >> 10) << 2;
    code[i] = (unsigned long long)high << 30 | low;
}
