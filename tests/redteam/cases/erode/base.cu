// The smallest byte at most r places away in the same row.
__global__ void erode(const unsigned char* in, unsigned char* out, int rows, int w, int r) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= (size_t)rows * w) return;
    const unsigned char* row = in + i / w * w;
    int c = (int)(i % w), low = max(c - r, 0), high = min(c + r, w - 1), least = 255;
    for (int k = low; k <= high; ++k) least = min(least, (int)row[k]);
    out[i] = (unsigned char)least;
}
