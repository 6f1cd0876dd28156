// The colours of a picture whose pixels see one colour each: red and green by turns in one row, green and
// blue in the next. What is missing is the mean of the neighbours; borders are mirrors.
__device__ int mirrored(int i, int n) {
    i = abs(i);
    return i < n ? i : max(0, 2 * n - 2 - i);
}

__global__ void demosaic(const unsigned char* raw, unsigned char* rgb, int h, int w) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    const unsigned char *mid = raw + (size_t)y * w, *up = raw + (size_t)mirrored(y - 1, h) * w,
                        *down = raw + (size_t)mirrored(y + 1, h) * w;
    int l = mirrored(x - 1, w), r = mirrored(x + 1, w);
    int own = mid[x], across = mid[l] + mid[r], along = up[x] + down[x];
    int corners = up[l] + up[r] + down[l] + down[r];
    int red, green, blue;
    if (x % 2 == y % 2) {
        green = (across + along + 2) / 4;
        red = y % 2 == 0 ? own : (corners + 2) / 4;
        blue = y % 2 == 0 ? (corners + 2) / 4 : own;
    } else {
        green = own;
        red = y % 2 == 0 ? (across + 1) / 2 : (along + 1) / 2;
        blue = y % 2 == 0 ? (along + 1) / 2 : (across + 1) / 2;
    }
    unsigned char* to = rgb + 3 * ((size_t)y * w + x);
    to[0] = (unsigned char)red;
    to[1] = (unsigned char)green;
    to[2] = (unsigned char)blue;
}
