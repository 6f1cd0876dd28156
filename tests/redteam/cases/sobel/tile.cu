// Edges of a grey image whose rows lie `gap` bytes apart; what lies in the gaps is not ours.
__device__ int grey(const unsigned char* in, int x, int y, int w, int h, int pitch) {
    x = min(max(x, 0), w - 1), y = min(max(y, 0), h - 1);
    return in[(size_t)y * pitch + x];
}

__global__ void sobel(const unsigned char* in, unsigned char* out, int w, int h, int gap) {
    __shared__ unsigned char tile[10][34];
    int pitch = w + gap, left = blockIdx.x * 32, top = blockIdx.y * 8;
    for (int k = threadIdx.y * 32 + threadIdx.x; k < 340; k += 256)
        tile[k / 34][k % 34] = grey(in, left + k % 34 - 1, top + k / 34 - 1, w, h, pitch);
    __syncthreads();
    int x = left + threadIdx.x, y = top + threadIdx.y;
    if (x >= w || y >= h) return;
    int i = threadIdx.x + 1, j = threadIdx.y + 1;
    int across = tile[j - 1][i + 1] + 2 * tile[j][i + 1] + tile[j + 1][i + 1] -
                 tile[j - 1][i - 1] - 2 * tile[j][i - 1] - tile[j + 1][i - 1];
    int down = tile[j + 1][i - 1] + 2 * tile[j + 1][i] + tile[j + 1][i + 1] -
               tile[j - 1][i - 1] - 2 * tile[j - 1][i] - tile[j - 1][i + 1];
    out[(size_t)y * pitch + x] = min(abs(across) + abs(down), 255);
}
