// The eight planes of bits of n bytes, 32 bytes a word of each.
__global__ void bitplanes(const unsigned char* x, unsigned* out, int n) {
    int words = (n + 31) / 32, j = blockIdx.x * blockDim.x + threadIdx.x, plane = blockIdx.y;
    if (j >= words) return;
    unsigned v = 0;
    for (int k = 0; k < 32; ++k) {
        size_t i = (size_t)j * 32 + k;
        if (i < n) v |= (unsigned)(x[i] >> plane & 1) << k;
    }
    out[(size_t)plane * words + j] = v;
}
