// Where the 24 around a pixel are, in the order of lines.
__constant__ signed char right[24] = {-2, -1, 0, 1, 2, -2, -1, 0, 1, 2, -2, -1, 1, 2, -2, -1, 0, 1, 2, -2, -1, 0, 1, 2};
__constant__ signed char down[24] = {-2, -2, -2, -2, -2, -1, -1, -1, -1, -1, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2};

// A picture's census, by which two pictures are compared: for each pixel which of the 24 around it are darker, a bit
// each, in the order of lines. Beyond the picture its border goes on. A block has 32 x 32 pixels and what is around them
// in shared memory.
__global__ void census(const unsigned char* img, unsigned* sign, int h, int w) {
    __shared__ unsigned char part[36][36];
    int t = threadIdx.y * 32 + threadIdx.x;
    long long x0 = blockIdx.x * 32ll, y0 = blockIdx.y * 32ll;
    for (int s = t; s < 36 * 36; s += 256) {
        long long a = min(max(x0 + s % 36 - 2, 0ll), w - 1ll), b = min(max(y0 + s / 36 - 2, 0ll), h - 1ll);
        part[s / 36][s % 36] = img[b * w + a];
    }
    __syncthreads();
    int x = threadIdx.x;
    if (x0 + x >= w) return;
    for (int y = threadIdx.y; y < 32 && y0 + y < h; y += 8) {
        int own = part[y + 2][x + 2];
        unsigned bits = 0;
#pragma unroll
        for (int k = 0; k < 24; ++k) bits = 2 * bits + (part[y + 2 + down[k]][x + 2 + right[k]] < own);
        sign[(y0 + y) * w + x0 + x] = bits;
    }
}
