// A picture with a margin of p on all sides that mirrors it, again and again where it is narrow.
__device__ int mirror(int i, int n) {
    int period = max(2 * n - 2, 1);
    i %= period;
    if (i < 0) i += period;
    return min(i, period - i);
}

__device__ bool inside(int i, int n) { return (unsigned)i < (unsigned)n; }

__global__ void mirrorpad(const float* in, float* out, int h, int w, int p) {
    int wide = w + 2 * p, high = h + 2 * p;
    for (int x = blockIdx.x * blockDim.x + threadIdx.x; x < wide; x += gridDim.x * blockDim.x) {
        int from = inside(x - p, w) ? x - p : mirror(x - p, w);
        for (int y = blockIdx.y; y < high; y += gridDim.y)
            out[(size_t)y * wide + x] = in[(size_t)(inside(y - p, h) ? y - p : mirror(y - p, h)) * w + from];
    }
}
