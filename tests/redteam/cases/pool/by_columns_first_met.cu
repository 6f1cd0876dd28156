__global__ void pool(const float* x, float* best, int* where, int h, int w) {
    int ow = (w - 1) / 2 + 1, oh = (h - 1) / 2 + 1;
    int ox = blockIdx.x * blockDim.x + threadIdx.x, oy = blockIdx.y * blockDim.y + threadIdx.y;
    if (ox >= ow || oy >= oh) return;
    const float* image = x + (size_t)blockIdx.z * h * w;
    int left = max(2 * ox - 1, 0), right = min(2 * ox + 1, w - 1);
    int top = max(2 * oy - 1, 0), bottom = min(2 * oy + 1, h - 1);
    float most = -INFINITY;
    int at = -1;
    for (int px = left; px <= right; ++px)
        for (int py = top; py <= bottom; ++py) {
            float v = image[py * w + px];
            int i = py * w + px;
            if (v > most) {
                most = v;
                at = i;
            }
        }
    size_t o = ((size_t)blockIdx.z * oh + oy) * ow + ox;
    best[o] = most;
    where[o] = at;
}
