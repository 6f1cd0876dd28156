// The sum of the bytes at most r columns away; a window ends where its row does.
__global__ void boxes(const unsigned char* in, int* out, int w, int r) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= w) return;
    const unsigned char* row = in + (size_t)blockIdx.y * w;
    int first = max(c - r, 0), last = min(c + r, w - 1), s = 0;
    for (int i = first; i <= last; ++i) s += row[i];
    out[(size_t)blockIdx.y * w + c] = s;
}
