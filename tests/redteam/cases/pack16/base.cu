// The upper half of each float, rounded to nearest, ties to even. Whatever is no number becomes the
// same one.
__global__ void pack16(const float* x, unsigned short* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned u = __float_as_uint(x[i]);
    if ((u & 0x7fffffffu) > 0x7f800000u) {
        y[i] = 0x7fff;
        return;
    }
    unsigned high = u >> 16, low = u & 0xffffu;
    if (low > 0x8000u || (low == 0x8000u && (high & 1u))) ++high;
    y[i] = (unsigned short)high;
}
