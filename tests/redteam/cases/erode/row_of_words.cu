// The smallest byte at most r places away in the same row.
// A block holds a row, as words, and what becomes of it, so that it is read and written in order.
__global__ void erode(const unsigned char* in, unsigned char* out, int rows, int w, int r) {
    extern __shared__ int held[];
    int* done = held + w;
    const unsigned char* row = in + (size_t)blockIdx.x * w;
    for (int c = threadIdx.x; c < w; c += blockDim.x) held[c] = row[c];
    __syncthreads();
    int each = (w + blockDim.x - 1) / blockDim.x, first = threadIdx.x * each;
    for (int c = first; c < min(first + each, w); ++c) {
        int least = 255;
        for (int k = max(c - r, 0); k <= min(c + r, w - 1); ++k) least = min(least, held[k]);
        done[c] = least;
    }
    __syncthreads();
    for (int c = threadIdx.x; c < w; c += blockDim.x) out[(size_t)blockIdx.x * w + c] = (unsigned char)done[c];
}
