// A picture's census, by which two pictures are compared: for each pixel which of the 24 around it are darker, a bit
// each, in the order of lines. Beyond the picture its border goes on. A thread has four pixels of a line: inside, eight
// of each of five lines are enough for all of them.
__global__ void census(const unsigned char* img, unsigned* sign, int h, int w) {
    long long x = 4 * (blockIdx.x * 32ll + threadIdx.x), y = blockIdx.y * 8ll + threadIdx.y;
    if (x >= w || y >= h) return;
    if (x >= 2 && x + 4 < w) {
        int own[4];
        unsigned bits[4] = {};
        for (int k = 0; k < 4; ++k) own[k] = img[y * w + x + k];
#pragma unroll
        for (int v = -2; v <= 2; ++v) {
            const unsigned char* line = img + min(max(y + v, 0ll), h - 1ll) * w + x - 2;
            int p[8];
#pragma unroll
            for (int u = 0; u < 8; ++u) p[u] = line[u];
#pragma unroll
            for (int k = 0; k < 4; ++k)
#pragma unroll
                for (int u = 0; u < 5; ++u)
                    if (u != 2 || v != 0) bits[k] = 2 * bits[k] + (p[k + u] < own[k]);
        }
        for (int k = 0; k < 4; ++k) sign[y * w + x + k] = bits[k];
        return;
    }
    for (int k = 0; k < 4 && x + k < w; ++k) {
        int own = img[y * w + x + k];
        unsigned bits = 0;
        for (int v = -2; v <= 2; ++v)
            for (int u = -2; u <= 2; ++u) {
                if (u == 0 && v == 0) continue;
                long long a = min(max(x + k + u, 0ll), w - 1ll), b = min(max(y + v, 0ll), h - 1ll);
                bits = 2 * bits + (img[b * w + a] < own);
            }
        sign[y * w + x + k] = bits;
    }
}
