// Edges of a grey image whose rows lie `gap` bytes apart; what lies in the gaps is not ours.
__device__ int grey(const unsigned char* in, int x, int y, int w, int h, int pitch) {
    x = min(max(x, 0), w - 1), y = min(max(y, 0), h - 1);
    return in[(size_t)y * pitch + x];
}

__global__ void sobel(const unsigned char* in, unsigned char* out, int w, int h, int gap) {
    int x = blockIdx.x * 32 + threadIdx.x, y = (blockIdx.y * 8 + threadIdx.y) * 4;
    if (x >= w || y >= h) return;
    int pitch = w + gap;
    int a0 = grey(in, x - 1, y - 1, w, h, pitch), a1 = grey(in, x, y - 1, w, h, pitch),
        a2 = grey(in, x + 1, y - 1, w, h, pitch);
    int b0 = grey(in, x - 1, y, w, h, pitch), b1 = grey(in, x, y, w, h, pitch),
        b2 = grey(in, x + 1, y, w, h, pitch);
    for (int end = min(y + 4, h); y < end; ++y) {
        int c0 = grey(in, x - 1, y + 1, w, h, pitch), c1 = grey(in, x, y + 1, w, h, pitch),
            c2 = grey(in, x + 1, y + 1, w, h, pitch);
        int across = a2 + 2 * b2 + c2 - a0 - 2 * b0 - c0, down = c0 + 2 * c1 + c2 - a0 - 2 * a1 - a2;
        out[(size_t)y * pitch + x] = min(abs(across) + abs(down), 255);
        a0 = b0, a1 = b1, a2 = b2;
        b0 = c0, b1 = c1, b2 = c2;
    }
}
