// Sixteen neighbours a thread: a window is the one before it, less a byte, and one more.
__global__ void boxes(const unsigned char* __restrict__ in, int* __restrict__ out, int w, int r) {
    int c0 = (blockIdx.x * blockDim.x + threadIdx.x) * 16;
    if (c0 >= w) return;
    const unsigned char* row = in + (size_t)blockIdx.y * w;
    int* to = out + (size_t)blockIdx.y * w;
    int first = max(c0 - r, 0), last = min(c0 + r, w - 1), s = 0;
    for (int i = first; i <= last; ++i) s += row[i];
    to[c0] = s;
    for (int c = c0 + 1; c < min(c0 + 16, w); ++c) {
        if (c + r < w) s += row[c + r];
        if (c - r - 1 >= 0) s -= row[c - r - 1];
        to[c] = s;
    }
}
