// The colours of a picture whose pixels see one colour each: red and green by turns in one row, green and
// blue in the next. What is missing is the mean of the neighbours; borders are mirrors.
__device__ int mirrored(int i, int n) {
    i = abs(i);
    return i < n ? i : max(0, 2 * n - 2 - i);
}

__global__ void demosaic(const unsigned char* raw, unsigned char* rgb, int h, int w) {
    __shared__ unsigned char tile[10][36];
    int x0 = blockIdx.x * 32, x = x0 + threadIdx.x, t = threadIdx.y * 32 + threadIdx.x;
    for (int part = 0; part < 4; ++part) {
        int y0 = (blockIdx.y * 4 + part) * 8, y = y0 + threadIdx.y;
        for (int k = t; k < 340; k += 256) {
            int r = k / 34, c = k % 34;
            tile[r][c] = raw[(size_t)mirrored(y0 - 1 + r, h) * w + mirrored(x0 - 1 + c, w)];
        }
        __syncthreads();
        const unsigned char* mid = &tile[threadIdx.y + 1][threadIdx.x + 1];
        const unsigned char *up = mid - 36, *down = mid + 36;
        if (x < w && y < h) {
            int own = mid[0], across = mid[-1] + mid[1], along = up[0] + down[0];
            int corners = up[-1] + up[1] + down[-1] + down[1];
            int green = own, first = (across + 1) / 2, second = (along + 1) / 2;
            if (x % 2 == y % 2) green = (across + along + 2) / 4, first = own, second = (corners + 2) / 4;
            unsigned char* to = rgb + 3 * ((size_t)y * w + x);
            to[0] = (unsigned char)(y % 2 == 0 ? first : second);
            to[1] = (unsigned char)green;
            to[2] = (unsigned char)(y % 2 == 0 ? second : first);
        }
        // The tile is filled anew only when all have read it.
        __syncthreads();
    }
}
