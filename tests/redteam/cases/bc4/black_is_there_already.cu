// Compresses a grey picture to half a byte for a pixel: of four by four the two shades that eight steps lie between, and
// three bits for each pixel. Shades up to seven within the darkest and brightest are tried; of the best the first.
// Pixels behind the border are those on it.
__device__ int shade(int p, int low, int range) { return min(max(((p - low) * 7 + range / 2) / range, 0), 7); }

__device__ int quick(int p, int low, int range, unsigned over) {
    int x = (p - low) * 7 + range / 2;
    return x < 0 ? 0 : min(x * over >> 20, 7u);
}

// What is black all over has the code nought, which a new texture holds: nothing is to be done there.
// A warp has four by four pixels, and a lane two of the 64 pairs. The least of 64 * error + pair is the best, and first.
__global__ void bc4(const unsigned char* pixel, unsigned long long* code, int h, int w) {
    int lane = threadIdx.x % 32, bx = (blockIdx.x * blockDim.x + threadIdx.x) / 32, by = blockIdx.y;
    int across = (w + 3) / 4;
    if (bx >= across) return;
    int mine = pixel[(size_t)min(4 * by + lane % 16 / 4, h - 1) * w + min(4 * bx + lane % 4, w - 1)];
    int high = __reduce_max_sync(~0u, mine), low = __reduce_min_sync(~0u, mine), best = 0x7fffffff;
    if (high == 0) return;
    int p[16];
    for (int k = 0; k < 16; ++k) p[k] = __shfl_sync(~0u, mine, k);
    for (int pair = lane; pair < 64; pair += 32) {
        int top = high - pair / 8, bottom = low + pair % 8, range = top - bottom, error = 0;
        if (range <= 0) continue;
        // A whole number below 1920 is divided by multiplying with this, exactly.
        unsigned over = (1u << 20) / range + 1;
        for (int k = 0; k < 16; ++k) {
            int off = p[k] - (bottom + (quick(p[k], bottom, range, over) * range + 3) / 7);
            error += off * off;
        }
        best = min(best, 64 * error + pair);
    }
    best = __reduce_min_sync(~0u, best);
    int top = high, bottom = low;
    unsigned first = 0, second = 0;
    if (high > low) {
        top = high - best % 64 / 8, bottom = low + best % 8;
        int s = shade(mine, bottom, top - bottom), k = lane % 16;
        unsigned long long three = (unsigned long long)(s == 7 ? 0 : s == 0 ? 1 : 8 - s) << (16 + 3 * k);
        first = three, second = three >> 32;
    }
    first = __reduce_or_sync(~0u, first), second = __reduce_or_sync(~0u, second);
    if (lane == 0)
        code[(size_t)by * across + bx] = (unsigned long long)second << 32 | first | bottom << 8 | top;
}
