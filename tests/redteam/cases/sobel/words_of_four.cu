// Edges of a grey image whose rows lie `gap` bytes apart; what lies in the gaps is not ours.
__device__ int grey(const unsigned char* in, int x, int y, int w, int h, int pitch) {
    x = min(max(x, 0), w - 1), y = min(max(y, 0), h - 1);
    return in[(size_t)y * pitch + x];
}

__global__ void sobel(const unsigned char* in, unsigned char* out, int w, int h, int gap) {
    int x = (blockIdx.x * 32 + threadIdx.x) * 4, y = blockIdx.y * 8 + threadIdx.y;
    if (x >= w || y >= h) return;
    int pitch = w + gap;
    int a[6], b[6], c[6];
    for (int k = 0; k < 6; ++k) {
        a[k] = grey(in, x + k - 1, y - 1, w, h, pitch);
        b[k] = grey(in, x + k - 1, y, w, h, pitch);
        c[k] = grey(in, x + k - 1, y + 1, w, h, pitch);
    }
    unsigned char v[4];
    for (int k = 0; k < 4; ++k) {
        int across = a[k + 2] + 2 * b[k + 2] + c[k + 2] - a[k] - 2 * b[k] - c[k];
        int down = c[k] + 2 * c[k + 1] + c[k + 2] - a[k] - 2 * a[k + 1] - a[k + 2];
        v[k] = min(abs(across) + abs(down), 255);
    }
    unsigned char* to = out + (size_t)y * pitch + x;
    if ((size_t)to % 4 == 0 && x + 4 <= pitch)
        *(uchar4*)to = make_uchar4(v[0], v[1], v[2], v[3]);
    else
        for (int k = 0; k < 4 && x + k < w; ++k) to[k] = v[k];
}
