// Compresses a grey picture to half a byte for a pixel: of four by four the two shades that eight steps lie between, and
// three bits for each pixel. Shades up to seven within the darkest and brightest are tried; of the best the first.
// Pixels behind the border are those on it.
__device__ int shade(int p, int low, int range) { return min(max(((p - low) * 7 + range / 2) / range, 0), 7); }

__device__ int quick(int p, int low, int range, unsigned over) {
    int x = (p - low) * 7 + range / 2;
    return x < 0 ? 0 : min(x * over >> 20, 7u);
}

// A pair is given up where its error is not less than the least one any more: a later one has to be better.
__global__ void bc4(const unsigned char* pixel, unsigned long long* code, int h, int w) {
    int bx = blockIdx.x * blockDim.x + threadIdx.x, by = blockIdx.y, across = (w + 3) / 4;
    if (bx >= across) return;
    int p[16], high = 0, low = 255;
    for (int k = 0; k < 16; ++k) {
        int x = min(4 * bx + k % 4, w - 1), y = min(4 * by + k / 4, h - 1);
        p[k] = pixel[(size_t)y * w + x];
        high = max(high, p[k]), low = min(low, p[k]);
    }
    int best = -1, least = 0;
    for (int pair = 0; pair < 64 && high > low; ++pair) {
        int top = high - pair / 8, bottom = low + pair % 8, range = top - bottom, error = 0;
        if (range <= 0) continue;
        // A whole number below 1920 is divided by multiplying with this, exactly.
        unsigned over = (1u << 20) / range + 1;
        for (int k = 0; k < 16 && (best < 0 || error < least); ++k) {
            int off = p[k] - (bottom + (quick(p[k], bottom, range, over) * range + 3) / 7);
            error += off * off;
        }
        if (best < 0 || error < least) best = pair, least = error;
    }
    int top = high, bottom = low;
    unsigned long long bits = 0;
    if (best >= 0) {
        top = high - best / 8, bottom = low + best % 8;
        for (int k = 0; k < 16; ++k) {
            int s = shade(p[k], bottom, top - bottom);
            bits |= (unsigned long long)(s == 7 ? 0 : s == 0 ? 1 : 8 - s) << (16 + 3 * k);
        }
    }
    code[(size_t)by * across + bx] = bits | bottom << 8 | top;
}
