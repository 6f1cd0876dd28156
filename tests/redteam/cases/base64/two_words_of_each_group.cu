__device__ __forceinline__ unsigned letter(unsigned six) {
    return 'A' + six + (six > 25) * 6 - (six > 51) * 75 - (six > 61) * 15 + (six > 62) * 3;
}
// Three bytes as four letters; what is missing at the end is told by '='.
__global__ void base64(const unsigned char* data, unsigned char* text, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (3 * i >= n) return;
    int left = n - 3 * i;
    // The two words that hold the three bytes wherever they begin.
    size_t at = (size_t)data + 3 * i;
    const unsigned* from = (const unsigned*)(at & ~(size_t)3);
    unsigned bits = __byte_perm(__funnelshift_r(from[0], from[1], 8 * (at & 3)), 0, 0x4012);
    if (left == 1) bits &= 0xff0000;
    if (left == 2) bits &= 0xffff00;
    unsigned char* to = text + 4 * (size_t)i;
    to[0] = letter(bits >> 18);
    to[1] = letter(bits >> 12 & 63);
    to[2] = left > 1 ? letter(bits >> 6 & 63) : '=';
    to[3] = left > 2 ? letter(bits & 63) : '=';
}
