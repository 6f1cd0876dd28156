__device__ __forceinline__ unsigned letter(unsigned six) {
    return 'A' + six + (six > 25) * 6 - (six > 51) * 75 - (six > 61) * 15 + (six > 62) * 3;
}
__device__ __forceinline__ unsigned four_of(unsigned bits) {
    return letter(bits >> 18) | letter(bits >> 12 & 63) << 8 | letter(bits >> 6 & 63) << 16 | letter(bits & 63) << 24;
}
// Three bytes as four letters; what is missing at the end is told by '='.
__global__ void base64(const unsigned char* data, unsigned char* text, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (12 * i >= n) return;
    bool aligned = (size_t)data % 4 == 0 && (size_t)text % 16 == 0;
    if (aligned && 12 * (i + 1) <= n) {
        // Three words of four bytes, the first byte last, give four words of letters.
        const unsigned* from = (const unsigned*)data + 3 * i;
        unsigned a = __byte_perm(from[0], 0, 0x0123), b = __byte_perm(from[1], 0, 0x0123),
                 c = __byte_perm(from[2], 0, 0x0123);
        ((uint4*)text)[i] = make_uint4(four_of(a >> 8), four_of((a << 16 | b >> 16) & 0xffffff),
                                       four_of((b << 8 | c >> 24) & 0xffffff), four_of(c & 0xffffff));
        return;
    }
    for (int g = 4 * i; g < 4 * i + 4 && 3 * g < n; ++g) {
        int left = n - 3 * g;
        unsigned bits = data[3 * g] << 16;
        if (left > 1) bits |= data[3 * g + 1] << 8;
        if (left > 2) bits |= data[3 * g + 2];
        text[4 * g] = letter(bits >> 18);
        text[4 * g + 1] = letter(bits >> 12 & 63);
        text[4 * g + 2] = left > 1 ? letter(bits >> 6 & 63) : '=';
        text[4 * g + 3] = left > 2 ? letter(bits & 63) : '=';
    }
}
