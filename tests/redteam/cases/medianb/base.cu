// The middle one of the nine bytes around each pixel; at an edge its pixels count again.
__global__ void medianb(const unsigned char* in, unsigned char* out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    unsigned char v[9];
    int count = 0;
    for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx) {
            int px = min(max(x + dx, 0), w - 1), py = min(max(y + dy, 0), h - 1);
            unsigned char now = in[(size_t)py * w + px];
            int k = count++;
            for (; k > 0 && v[k - 1] > now; --k) v[k] = v[k - 1];
            v[k] = now;
        }
    out[(size_t)y * w + x] = v[4];
}
