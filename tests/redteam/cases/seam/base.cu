// The cheapest way down a picture, at most one column aside at each row: what it costs to arrive at
// each place of the last row.
__global__ void seam(const unsigned char* e, int* cost, int h, int w) {
    extern __shared__ int row[];
    int*now = row, *old = row + w;
    const unsigned char* of = e + (size_t)blockIdx.x * h * w;
    for (int c = threadIdx.x; c < w; c += blockDim.x) now[c] = of[c];
    for (int r = 1; r < h; ++r) {
        int* other = now;
        now = old;
        old = other;
        __syncthreads();
        for (int c = threadIdx.x; c < w; c += blockDim.x) {
            int best = old[c];
            if (c > 0) best = min(best, old[c - 1]);
            if (c + 1 < w) best = min(best, old[c + 1]);
            now[c] = best + of[(size_t)r * w + c];
        }
    }
    for (int c = threadIdx.x; c < w; c += blockDim.x) cost[(size_t)blockIdx.x * w + c] = now[c];
}
