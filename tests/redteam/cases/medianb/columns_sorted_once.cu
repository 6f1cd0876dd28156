// Four pixels of a thread share six columns, each sorted once. The median of nine is the median of
// the highest low, the middle of the middles, and the lowest high.
__device__ __forceinline__ int middle(int a, int b, int c) {
    return max(min(a, b), min(max(a, b), c));
}

__global__ void medianb(const unsigned char* __restrict__ in, unsigned char* __restrict__ out,
                        int w, int h) {
    int x = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    const unsigned char* r0 = in + (size_t)max(y - 1, 0) * w;
    const unsigned char* r1 = in + (size_t)y * w;
    const unsigned char* r2 = in + (size_t)min(y + 1, h - 1) * w;
    int low[6], mid[6], high[6];
#pragma unroll
    for (int k = 0; k < 6; ++k) {
        int px = min(max(x + k - 1, 0), w - 1), a = r0[px], b = r1[px], c = r2[px];
        low[k] = min(min(a, b), c);
        high[k] = max(max(a, b), c);
        mid[k] = middle(a, b, c);
    }
#pragma unroll
    for (int k = 0; k < 4; ++k)
        if (x + k < w)
            out[(size_t)y * w + x + k] =
                middle(max(max(low[k], low[k + 1]), low[k + 2]),
                       middle(mid[k], mid[k + 1], mid[k + 2]),
                       min(min(high[k], high[k + 1]), high[k + 2]));
}
