__global__ void relax(float* u, const float* f, int h, int w, int colour) {
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    const int x = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (y < 1 || y >= h - 1 || x >= w) return;
    float two[2] = {u[y * w + x], x + 1 < w ? u[y * w + x + 1] : 0.0f};
    for (int k = 0; k < 2; ++k) {
        const int c = x + k, i = y * w + c;
        if (c < 1 || c >= w - 1 || ((c + y) & 1) != (colour & 1)) continue;
        two[k] += 1.2f * (0.25f * (u[i - 1] + u[i + 1] + u[i - w] + u[i + w] - f[i]) - two[k]);
    }
    u[y * w + x] = two[0];
    if (x + 1 < w - 1) u[y * w + x + 1] = two[1];
    if (x + 1 == w - 1) u[y * w + x + 1] = two[0];
}
