// The numbers that fields of decimal digits stand for, modulo two to the 64th.
// Eight digits at once, the first one in the lowest byte: pairs, fours, eights.
__device__ unsigned eight(unsigned long long c) {
    c = (c & 0x0f0f0f0f0f0f0f0full) * 2561 >> 8;
    c = (c & 0x00ff00ff00ff00ffull) * 6553601 >> 16;
    return (unsigned)((c & 0x0000ffff0000ffffull) * 42949672960001ull >> 32);
}

__global__ void fields(const unsigned char* text, unsigned long long* value, int n, int width) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned char* p = text + (size_t)i * width;
    unsigned long long v = 0;
    int k = 0;
    for (; k + 8 <= width; k += 8) {
        unsigned long long c = 0;
        for (int e = 0; e < 8; ++e) c |= (unsigned long long)p[k + e] << 8 * e;
        v = v * 100000000ull + eight(c);
    }
    for (; k < width; ++k) v = 10 * v + (p[k] - '0');
    value[i] = v;
}
