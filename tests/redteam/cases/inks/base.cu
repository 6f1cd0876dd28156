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

// Pixels become inks for a press, in place.
__global__ void inks(unsigned* pixel, int n, int limit) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) pixel[i] = separated(pixel[i], limit);
}
