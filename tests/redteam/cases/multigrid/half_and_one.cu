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
    // A thread goes down eight places: the row between two of them counts for both. Of 2 n + 1 points n + 1 are left.
    int x = blockIdx.x * blockDim.x + threadIdx.x, from = blockIdx.y * 8;
    int rows = (h >> 1) + 1, cols = (w >> 1) + 1;
    if (x >= cols) return;
    auto row = [&](int y) {
        float middle = residual(u, f, y, 2 * x, h, w, scale);
        return residual(u, f, y, 2 * x - 1, h, w, scale) + 2.f * middle + residual(u, f, y, 2 * x + 1, h, w, scale);
    };
    float above = row(2 * from - 1);
    for (int y = from; y < min(from + 8, rows); ++y) {
        float middle = row(2 * y), below = row(2 * y + 1);
        coarse[(size_t)y * cols + x] = (above + 2.f * middle + below) / 16.f;
        above = below;
    }
}
