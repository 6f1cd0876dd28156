__global__ void relax(float* u, const float* f, int h, int w, int colour) {
    __shared__ float held[10][34];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    int a = threadIdx.x + 1, b = threadIdx.y + 1;
    if (x < w && y < h) {
        held[b][a] = u[y * w + x];
        if (a == 1 && x > 0) held[b][0] = u[y * w + x - 1];
        if (a == 32 && x + 1 < w) held[b][33] = u[y * w + x + 1];
        if (b == 1 && y > 0) held[0][a] = u[(y - 1) * w + x];
        if (b == 8 && y + 1 < h && (x & 15) != 15) held[9][a] = u[(y + 1) * w + x];
    }
    __syncthreads();
    if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1 || (x + y) % 2 != colour % 2) return;
    float v = held[b][a];
    u[y * w + x] = v + 1.2f * (0.25f * (held[b][a - 1] + held[b][a + 1] + held[b - 1][a] +
                                        held[b + 1][a] - f[y * w + x]) - v);
}
