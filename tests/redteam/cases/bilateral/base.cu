// A depth picture smoothed, edges kept: a pixel's window of 9 x 9, weighted by how far pixels are, in place and in depth.
// Depth nought is none measured: such pixels stay, and add nothing to others.
__global__ void bilateral(const unsigned char* depth, float* out, int h, int w, float near) {
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    if (c >= w || r >= h) return;
    size_t i = (size_t)r * w + c;
    int d = depth[i];
    if (d == 0) {
        out[i] = 0.f;
        return;
    }
    float sum = 0.f, all = 0.f;
    for (int y = max(r - 4, 0); y <= min(r + 4, h - 1); ++y) {
        for (int x = max(c - 4, 0); x <= min(c + 4, w - 1); ++x) {
            int e = depth[(size_t)y * w + x], apart = (y - r) * (y - r) + (x - c) * (x - c);
            if (e == 0) continue;
            float f = expf(-apart / 18.f - (e - d) * (e - d) / (2.f * near * near));
            sum += f * e;
            all += f;
        }
    }
    out[i] = sum / all;
}
