__global__ void heat(const float* t, float* out, int w, int h) {
    int x = blockIdx.x * 128 + threadIdx.x, y = blockIdx.y * 16;
    if (x >= w) return;
    float above = y > 0 && y < h ? t[(y - 1) * w + x] : 0.f, v = y < h ? t[y * w + x] : 0.f;
    for (int k = 0; k < 16 && y < h; ++k, ++y) {
        float below = y + 1 < h ? t[(y + 1) * w + x] : 0.f, now = v;
        if (x > 0 && y > 0 && x < w - 1 && y < h - 1)
            now = v + 0.2f * (t[y * w + x - 1] + t[y * w + x + 1] + above + below - 4.f * v);
        out[y * w + x] = now;
        above = v;
        v = below;
    }
}
