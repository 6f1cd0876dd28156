__global__ void heat(const float* t, float* out, int w, int h) {
    __shared__ float s[10][34];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    for (int e = threadIdx.y * 32 + threadIdx.x; e < 340; e += 256) {
        int gx = blockIdx.x * 32 + e % 34 - 1, gy = blockIdx.y * 8 + e / 34 - 1;
        s[e / 34][e % 34] = gx >= 0 && gy >= 0 && gx < w && gy < h ? t[gy * w + gx] : 0.f;
    }
    if (x >= w || y >= h) return;
    int c = threadIdx.x + 1, r = threadIdx.y + 1;
    float v = s[r][c];
    if (x > 0 && y > 0 && x < w - 1 && y < h - 1)
        v = v + 0.2f * (s[r][c - 1] + s[r][c + 1] + s[r - 1][c] + s[r + 1][c] - 4.f * v);
    out[y * w + x] = v;
}
