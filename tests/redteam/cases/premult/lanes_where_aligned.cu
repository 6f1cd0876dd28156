// Pixels of red, green, blue and how opaque they are: each colour times the last, rounded, in place.
__global__ void premult(unsigned char* pixel, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if ((size_t)pixel % 16 == 0) {
        // Four pixels a thread, two colours a lane of 16 bits each: (t + t / 256) / 256 is t / 255 rounded.
        for (int k = 0; k < 4; ++k) {
            size_t at = 4 * (size_t)i + k;
            if (k == 0 && at + 4 <= n) {
                uint4 v = ((uint4*)pixel)[i];
                unsigned* w = &v.x;
                for (int q = 0; q < 4; ++q) {
                    unsigned a = w[q] >> 24;
                    unsigned even = (w[q] & 0xff00ff) * a + 0x800080, odd = (w[q] >> 8 & 255) * a + 128;
                    even = (even + (even >> 8 & 0xff00ff)) >> 8 & 0xff00ff;
                    odd = (odd + (odd >> 8)) & 0xff00;
                    w[q] = even | odd | a << 24;
                }
                ((uint4*)pixel)[i] = v;
                return;
            }
            if (at >= n) return;
            unsigned char* p = pixel + 4 * at;
            for (int c = 0; c < 3; ++c) p[c] = (p[c] * p[3] + 127) / 255;
        }
        return;
    }
    for (size_t at = 4 * (size_t)i; at < min(4 * (size_t)i + 4, (size_t)n); ++at)
        for (int c = 0; c < 3; ++c) pixel[4 * at + c] = (pixel[4 * at + c] * pixel[4 * at + 3] + 127) / 255;
}
