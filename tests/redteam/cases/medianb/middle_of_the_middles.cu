// Four pixels of a thread share six columns, of each of which the middle is found once.
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
    int mid[6];
#pragma unroll
    for (int k = 0; k < 6; ++k) {
        int px = min(max(x + k - 1, 0), w - 1);
        mid[k] = middle(r0[px], r1[px], r2[px]);
    }
#pragma unroll
    for (int k = 0; k < 4; ++k)
        if (x + k < w)
            out[(size_t)y * w + x + k] = (unsigned char)middle(mid[k], mid[k + 1], mid[k + 2]);
}
