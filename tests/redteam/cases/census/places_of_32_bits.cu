// A picture's census, by which two pictures are compared: for each pixel which of the 24 around it are darker, a bit
// each, in the order of lines. Beyond the picture its border goes on. A block has 32 x 32 pixels and what is around them
// in shared memory.
__global__ void census(const unsigned char* img, unsigned* sign, int h, int w) {
    __shared__ unsigned char part[36][36];
    int t = threadIdx.y * 32 + threadIdx.x, x0 = blockIdx.x * 32, y0 = blockIdx.y * 32;
    for (int s = t; s < 36 * 36; s += 256) {
        int a = min(max(x0 + s % 36 - 2, 0), w - 1), b = min(max(y0 + s / 36 - 2, 0), h - 1);
        part[s / 36][s % 36] = img[b * w + a];
    }
    __syncthreads();
    int x = threadIdx.x;
    if (x0 + x >= w) return;
    for (int y = threadIdx.y; y < 32 && y0 + y < h; y += 8) {
        int own = part[y + 2][x + 2];
        unsigned bits = 0;
#pragma unroll
        for (int v = 0; v < 5; ++v)
#pragma unroll
            for (int u = 0; u < 5; ++u)
                if (u != 2 || v != 2) bits = 2 * bits + (part[y + v][x + u] < own);
        sign[(y0 + y) * w + x0 + x] = bits;
    }
}
