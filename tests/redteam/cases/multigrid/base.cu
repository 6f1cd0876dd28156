// What is missed on a grid, taken to one with half as many points a side: at every second place, weighted with its eight
// neighbours. All is zero outside.
__device__ float residual(const float* u, const float* f, int y, int x, int h, int w, float scale) {
    if (y < 0 || x < 0 || y >= h || x >= w) return 0.f;
    const float* p = u + (size_t)y * w + x;
    float around = (y > 0 ? p[-w] : 0.f) + (y + 1 < h ? p[w] : 0.f);
    around += (x > 0 ? p[-1] : 0.f) + (x + 1 < w ? p[1] : 0.f);
    return f[(size_t)y * w + x] - scale * (4.f * p[0] - around);
}

__global__ void multigrid(const float* u, const float* f, float* coarse, int h, int w, float scale) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (y >= (h + 1) / 2 || x >= (w + 1) / 2) return;
    float sum = 0.f;
    for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx)
            sum += (2 - abs(dy)) * (2 - abs(dx)) * residual(u, f, 2 * y + dy, 2 * x + dx, h, w, scale);
    coarse[(size_t)y * ((w + 1) / 2) + x] = sum / 16.f;
}
