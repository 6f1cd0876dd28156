// The colours of a picture whose pixels see one colour each: red and green by turns in one row, green and
// blue in the next. What is missing is the mean of the neighbours; borders are mirrors.
__device__ int mirrored(int i, int n) {
    i = abs(i);
    return i < n ? i : max(0, 2 * n - 2 - i);
}

__global__ void demosaic(const unsigned char* raw, unsigned char* rgb, int h, int w) {
    // A square of the pattern each: which colour a pixel sees is known when this is compiled.
    int x0 = 2 * (blockIdx.x * blockDim.x + threadIdx.x), y0 = 2 * (blockIdx.y * blockDim.y + threadIdx.y);
    if (x0 + 1 >= w || y0 + 1 >= h) return;
    unsigned char v[4][4];
#pragma unroll
    for (int r = 0; r < 4; ++r)
#pragma unroll
        for (int c = 0; c < 4; ++c)
            v[r][c] = raw[(size_t)mirrored(y0 - 1 + r, h) * w + mirrored(x0 - 1 + c, w)];
#pragma unroll
    for (int dy = 0; dy < 2; ++dy)
#pragma unroll
        for (int dx = 0; dx < 2; ++dx) {
            int x = x0 + dx, y = y0 + dy;
            int own = v[dy + 1][dx + 1], across = v[dy + 1][dx] + v[dy + 1][dx + 2];
            int along = v[dy][dx + 1] + v[dy + 2][dx + 1];
            int corners = v[dy][dx] + v[dy][dx + 2] + v[dy + 2][dx] + v[dy + 2][dx + 2];
            int green = own, first = (across + 1) / 2, second = (along + 1) / 2;
            if (dx == dy) green = (across + along + 2) / 4, first = own, second = (corners + 2) / 4;
            unsigned char* to = rgb + 3 * ((size_t)y * w + x);
            to[0] = (unsigned char)(dy == 0 ? first : second);
            to[1] = (unsigned char)green;
            to[2] = (unsigned char)(dy == 0 ? second : first);
        }
}
