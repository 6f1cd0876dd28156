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
    // Tiles of 32 by 8 places, one after the other; what is missed is made once for each point below a tile.
    __shared__ float r[17][66];
    int rows = (h + 1) / 2, cols = (w + 1) / 2, wide = (cols + 31) / 32, high = (rows + 7) / 8;
    int thread = threadIdx.y * 32 + threadIdx.x;
    for (int tile = blockIdx.x; tile < wide * high; tile += gridDim.x) {
        int x0 = tile % wide * 32, y0 = tile / wide * 8;
        for (int k = thread; k < 17 * 65; k += 256)
            r[k / 65][k % 65] = residual(u, f, 2 * y0 - 1 + k / 65, 2 * x0 - 1 + k % 65, h, w, scale);
        __syncthreads();
        int x = x0 + threadIdx.x, y = y0 + threadIdx.y;
        if (x < cols && y < rows) {
            float sum = 0.f;
            for (int dy = 0; dy < 3; ++dy) {
                const float* p = &r[2 * threadIdx.y + dy][2 * threadIdx.x];
                sum += (dy == 1 ? 2.f : 1.f) * (p[0] + 2.f * p[1] + p[2]);
            }
            coarse[(size_t)y * cols + x] = sum / 16.f;
        }
        __syncthreads();
    }
}
