// The smallest byte at most r places away in the same row.
__global__ void erode(const unsigned char* in, unsigned char* out, int rows, int w, int r) {
    int parts = (w + 3) / 4;
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= (size_t)rows * parts) return;
    const unsigned char* row = in + i / parts * w;
    int c = (int)(i % parts) * 4, common = 255;
    // What lies in the windows of all four is looked at once.
    for (int k = max(c + 3 - r, 0); k <= min(c + r, w - 1); ++k) common = min(common, (int)row[k]);
    for (int e = c; e < min(c + 4, w); ++e) {
        int least = common, right = min(e + r, w - 1);
        for (int k = max(e - r, 0); k <= min(c + 2 - r, right); ++k) least = min(least, (int)row[k]);
        for (int k = max(max(c + r + 1, e - r), 0); k <= right; ++k) least = min(least, (int)row[k]);
        out[i / parts * w + e] = (unsigned char)least;
    }
}
