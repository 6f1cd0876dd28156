// Pixels of red, green, blue and how opaque they are: each colour times the last, rounded, in place.
__global__ void premult(unsigned char* pixel, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (4 * (size_t)i >= n) return;
    if (n < 4 || (size_t)pixel % 4 != 0) {
        for (size_t at = 4 * (size_t)i; at < min(4 * (size_t)i + 4, (size_t)n); ++at)
            for (int c = 0; c < 3; ++c) pixel[4 * at + c] = (pixel[4 * at + c] * pixel[4 * at + 3] + 127) / 255;
        return;
    }
    // Always four pixels a thread: the last thread begins so far before the end.
    unsigned* word = (unsigned*)pixel + min(4 * (size_t)i, (size_t)n - 4);
    unsigned w[4];
    for (int q = 0; q < 4; ++q) w[q] = word[q];
    for (int q = 0; q < 4; ++q) {
        // Two colours a lane of 16 bits each: (t + t / 256) / 256 is t / 255 rounded.
        unsigned a = w[q] >> 24;
        unsigned even = (w[q] & 0xff00ff) * a + 0x800080, odd = (w[q] >> 8 & 255) * a + 128;
        even = (even + (even >> 8 & 0xff00ff)) >> 8 & 0xff00ff;
        odd = (odd + (odd >> 8)) & 0xff00;
        word[q] = even | odd | a << 24;
    }
}
