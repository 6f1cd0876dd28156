// A picture's census, by which two pictures are compared: for each pixel which of the 24 around it are darker, a bit
// each, in the order of lines. Beyond the picture its border goes on.
__global__ void census(const unsigned char* img, unsigned* sign, int h, int w) {
    long long x = blockIdx.x * (long long)blockDim.x + threadIdx.x, y = blockIdx.y * (long long)blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    int own = img[y * w + x];
    unsigned bits = 0;
    for (int v = -2; v <= 2; ++v)
        for (int u = -2; u <= 2; ++u) {
            if (u == 0 && v == 0) continue;
            long long a = min(max(x + u, 0ll), w - 1ll), b = min(max(y + v, 0ll), h - 1ll);
            bits = 2 * bits + (img[b * w + a] < own);
        }
    sign[y * w + x] = bits;
}
