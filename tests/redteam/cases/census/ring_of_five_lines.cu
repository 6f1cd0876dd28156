// A line of 132 pixels into the ring, the two before x0 first.
__device__ void loaded(unsigned char ring[5][132], const unsigned char* img, long long x0, long long y, int h, int w) {
    const unsigned char* line = img + min(max(y, 0ll), h - 1ll) * w;
    for (int s = threadIdx.x; s < 132; s += 128) ring[(y + 5) % 5][s] = line[min(max(x0 + s - 2, 0ll), w - 1ll)];
}

// A picture's census, by which two pictures are compared: for each pixel which of the 24 around it are darker, a bit
// each, in the order of lines. Beyond the picture its border goes on. A block goes down 64 lines of 128 columns: of a
// ring of five lines the highest is no more needed, and the next comes there.
__global__ void census(const unsigned char* img, unsigned* sign, int h, int w) {
    __shared__ unsigned char ring[5][132];
    int t = threadIdx.x;
    long long x0 = blockIdx.x * 128ll, first = blockIdx.y * 64ll, end = min(first + 64, (long long)h);
    for (long long y = first - 2; y <= first + 2; ++y) loaded(ring, img, x0, y, h, w);
    __syncthreads();
    for (long long y = first; y < end; ++y) {
        int own = ring[y % 5][t + 2];
        unsigned bits = 0;
        for (int v = -2; v <= 2; ++v) {
            const unsigned char* line = ring[(y + v + 5) % 5] + t;
            for (int u = 0; u < 5; ++u)
                if (u != 2 || v != 0) bits = 2 * bits + (line[u] < own);
        }
        if (x0 + t < w) sign[y * w + x0 + t] = bits;
        loaded(ring, img, x0, y + 3, h, w);
        __syncthreads();
    }
}
