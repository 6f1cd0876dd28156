// The eight planes of bits of n bytes: a product gathers a bit of each of eight bytes.
__global__ void bitplanes(const unsigned char* x, unsigned* out, int n) {
    int words = (n + 31) / 32, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= words) return;
    unsigned plane[8] = {};
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        unsigned long long v = 0;
        size_t i = (size_t)j * 32 + k * 8;
        if (i + 7 < n && (size_t)x % 8 == 0) v = *(const unsigned long long*)(x + i);
        else
            for (int e = 0; e < 8; ++e)
                if (i + e < n) v |= (unsigned long long)x[i + e] << 8 * e;
#pragma unroll
        for (int p = 0; p < 8; ++p)
            plane[p] |= (unsigned)((v >> p & 0x0101010101010101ull) * 0x0102040810204080ull >> 56) << 8 * k;
    }
#pragma unroll
    for (int p = 0; p < 8; ++p) out[(size_t)p * words + j] = plane[p];
}
