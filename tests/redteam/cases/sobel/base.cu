// Edges of a grey image whose rows lie `gap` bytes apart; what lies in the gaps is not ours.
__device__ int grey(const unsigned char* in, int x, int y, int w, int h, int pitch) {
    x = min(max(x, 0), w - 1), y = min(max(y, 0), h - 1);
    return in[(size_t)y * pitch + x];
}

__global__ void sobel(const unsigned char* in, unsigned char* out, int w, int h, int gap) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    int pitch = w + gap;
    int across = grey(in, x + 1, y - 1, w, h, pitch) + 2 * grey(in, x + 1, y, w, h, pitch) +
                 grey(in, x + 1, y + 1, w, h, pitch) - grey(in, x - 1, y - 1, w, h, pitch) -
                 2 * grey(in, x - 1, y, w, h, pitch) - grey(in, x - 1, y + 1, w, h, pitch);
    int down = grey(in, x - 1, y + 1, w, h, pitch) + 2 * grey(in, x, y + 1, w, h, pitch) +
               grey(in, x + 1, y + 1, w, h, pitch) - grey(in, x - 1, y - 1, w, h, pitch) -
               2 * grey(in, x, y - 1, w, h, pitch) - grey(in, x + 1, y - 1, w, h, pitch);
    out[(size_t)y * pitch + x] = min(abs(across) + abs(down), 255);
}
