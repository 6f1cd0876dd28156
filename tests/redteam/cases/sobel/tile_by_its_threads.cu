// Edges of a grey image whose rows lie `gap` bytes apart; what lies in the gaps is not ours.
__device__ int grey(const unsigned char* in, int x, int y, int w, int h, int pitch) {
    x = min(max(x, 0), w - 1), y = min(max(y, 0), h - 1);
    return in[(size_t)y * pitch + x];
}

__global__ void sobel(const unsigned char* in, unsigned char* out, int w, int h, int gap) {
    __shared__ unsigned char tile[10][34];
    int pitch = w + gap;
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    int i = threadIdx.x + 1, j = threadIdx.y + 1;
    tile[j][i] = grey(in, x, y, w, h, pitch);
    if (threadIdx.x == 0) tile[j][0] = grey(in, x - 1, y, w, h, pitch);
    if (threadIdx.x == 31) tile[j][33] = grey(in, x + 1, y, w, h, pitch);
    if (threadIdx.y == 0) tile[0][i] = grey(in, x, y - 1, w, h, pitch);
    if (threadIdx.y == 7) tile[9][i] = grey(in, x, y + 1, w, h, pitch);
    __syncthreads();
    if (x >= w || y >= h) return;
    int across = tile[j - 1][i + 1] + 2 * tile[j][i + 1] + tile[j + 1][i + 1] -
                 tile[j - 1][i - 1] - 2 * tile[j][i - 1] - tile[j + 1][i - 1];
    int down = tile[j + 1][i - 1] + 2 * tile[j + 1][i] + tile[j + 1][i + 1] -
               tile[j - 1][i - 1] - 2 * tile[j - 1][i] - tile[j - 1][i + 1];
    out[(size_t)y * pitch + x] = min(abs(across) + abs(down), 255);
}
