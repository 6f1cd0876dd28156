// How bright the pixels of a picture are: red, green and blue weighted, in 8 bits.
__global__ void luma(const unsigned char* rgb, unsigned char* y, int n) {
    int q = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned weights = 77u | 150u << 8 | 29u << 16;
    if ((size_t)rgb % 4 == 0 && (size_t)y % 4 == 0 && q < n / 4) {
        // Three words are four pixels; the fourth byte of each has no weight.
        const unsigned* from = (const unsigned*)rgb + 3 * (size_t)q;
        unsigned a = from[0], b = from[1], c = from[2];
        unsigned s = __dp4a(a, weights, 128u) >> 8;
        unsigned t = __dp4a(__funnelshift_r(a, b, 24), weights, 128u) >> 8;
        unsigned u = __dp4a(__funnelshift_r(b, c, 16), weights, 128u) >> 8;
        unsigned v = __dp4a(c >> 8, weights, 128u) >> 8;
        ((unsigned*)y)[q] = s | t << 8 | u << 16 | v << 24;
        return;
    }
    bool words = (size_t)rgb % 4 == 0 && (size_t)y % 4 == 0;
    // The thread behind the last four takes the rest; without words everybody takes its own pixels.
    size_t begin = words ? (q == n / 4 ? 4 * (size_t)q : n) : q, step = words ? 1 : (size_t)gridDim.x * blockDim.x;
    for (size_t i = begin; i < n; i += step)
        y[i] = (77 * rgb[3 * i] + 150 * rgb[3 * i + 1] + 29 * rgb[3 * i + 2] + 128) >> 8;
}
