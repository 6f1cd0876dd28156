// The cheapest way down a picture, at most one column aside at each row: what it costs to arrive at
// each place of the last row.
__device__ __forceinline__ int cheapest(const int* old, int c, int w) {
    int best = old[c];
    if (c > 0) best = min(best, old[c - 1]);
    if (c + 1 < w) best = min(best, old[c + 1]);
    return best;
}

__global__ void seam(const unsigned char* e, int* cost, int h, int w) {
    extern __shared__ int row[];
    int *now = row, *old = row + w;
    const unsigned char* of = e + (size_t)blockIdx.x * h * w;
    for (int c = threadIdx.x; c < w; c += blockDim.x) now[c] = of[c];
    // Two rows at a time: what lies between them is worked out by each thread for itself.
    int r = 1;
    for (; r + 1 < h; r += 2) {
        int* other = now;
        now = old;
        old = other;
        __syncthreads();
        const unsigned char* upper = of + (size_t)r * w;
        for (int c = threadIdx.x; c < w; c += blockDim.x) {
            int best = cheapest(old, c, w) + upper[c];
            if (c > 0) best = min(best, cheapest(old, c - 1, w) + upper[c - 1]);
            if (c + 1 < w) best = min(best, cheapest(old, c + 1, w) + upper[c + 1]);
            now[c] = best + upper[w + c];
        }
    }
    if (r < h) {
        int* other = now;
        now = old;
        old = other;
        __syncthreads();
        for (int c = threadIdx.x; c < w; c += blockDim.x)
            now[c] = cheapest(old, c, w) + of[(size_t)r * w + c];
    }
    for (int c = threadIdx.x; c < w; c += blockDim.x) cost[(size_t)blockIdx.x * w + c] = now[c];
}
