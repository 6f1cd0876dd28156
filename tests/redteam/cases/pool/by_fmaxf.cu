// Maxima of windows of 3 by 3 at every second place, one beyond the border; the first one of equals.
__global__ void pool(const float* x, float* best, int* where, int h, int w) {
    int ow = (w - 1) / 2 + 1, oh = (h - 1) / 2 + 1;
    int ox = blockIdx.x * blockDim.x + threadIdx.x, oy = blockIdx.y * blockDim.y + threadIdx.y;
    if (ox >= ow || oy >= oh) return;
    const float* image = x + (size_t)blockIdx.z * h * w;
    float most = -INFINITY;
    int at = -1;
    for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx) {
            int px = 2 * ox + dx, py = 2 * oy + dy;
            if (px < 0 || py < 0 || px >= w || py >= h) continue;
            float v = image[py * w + px];
            at = v > most ? py * w + px : at;
            most = fmaxf(most, v);
        }
    size_t o = ((size_t)blockIdx.z * oh + oy) * ow + ox;
    best[o] = most;
    where[o] = at;
}
