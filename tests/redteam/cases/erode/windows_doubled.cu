// The smallest byte at most r places away in the same row.
// A block holds 256 places and their neighbours; windows grow to twice their width at each step.
__global__ void erode(const unsigned char* in, unsigned char* out, int rows, int w, int r) {
    extern __shared__ unsigned char room[];
    int parts = (w + 255) / 256, r0 = blockIdx.x / parts, c0 = blockIdx.x % parts * 256;
    const unsigned char* row = in + (size_t)r0 * w;
    int c = c0 + threadIdx.x, held = 256 + 2 * r;
    if (r > 40000) {
        // There is no room for so many.
        int least = 255;
        for (int k = max(c - r, 0); k <= min(c + r, w - 1); ++k) least = min(least, (int)row[k]);
        if (c < w) out[(size_t)r0 * w + c] = (unsigned char)least;
        return;
    }
    unsigned char *now = room, *next = room + held;
    for (int k = threadIdx.x; k < held; k += 256) {
        int at = c0 - r + k;
        now[k] = at >= 0 && at < w ? row[at] : 255;
    }
    __syncthreads();
    int width = 1;
    for (; 2 * width <= 2 * r + 1; width *= 2) {
        for (int k = threadIdx.x; k < held; k += 256) next[k] = min(now[k], now[min(k + width, held - 1)]);
        __syncthreads();
        unsigned char* t = now;
        now = next, next = t;
    }
    if (c < w)
        out[(size_t)r0 * w + c] = min(now[threadIdx.x], now[threadIdx.x + 2 * r + 1 - width]);
}
