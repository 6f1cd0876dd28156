// Four bytes at a time from whole words; what does not belong to the window is masked.
__global__ void boxes(const unsigned char* __restrict__ in, int* __restrict__ out, int w, int r) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= w) return;
    size_t row = (size_t)blockIdx.y * w;
    size_t first = row + max(c - r, 0), end = row + min(c + r, w - 1) + 1;
    const unsigned* words = reinterpret_cast<const unsigned*>(in);
    unsigned s = 0;
    for (size_t k = first / 4; k * 4 < end; ++k) {
        unsigned v = words[k];
        if (k * 4 < first) v &= 0xffffffffu << (8 * (first - k * 4));
        if (k * 4 + 4 > end) v &= 0xffffffffu >> (8 * (k * 4 + 4 - end));
        s = __dp4a(v, 0x01010101u, s);
    }
    out[row + c] = (int)s;
}
