// A picture with a margin of p on all sides that mirrors it.
__device__ int mirror(int i, int n) {
    i = abs(i);
    return i < n ? i : 2 * n - 2 - i;
}

__global__ void mirrorpad(const float* in, float* out, int h, int w, int p) {
    int wide = w + 2 * p, high = h + 2 * p;
    for (int x = blockIdx.x * blockDim.x + threadIdx.x; x < wide; x += gridDim.x * blockDim.x) {
        int from = mirror(x - p, w);
        for (int y = blockIdx.y; y < high; y += gridDim.y)
            out[(size_t)y * wide + x] = in[(size_t)max(0, min(h - 1, mirror(y - p, h))) * w + max(0, min(w - 1, from))];
    }
}
