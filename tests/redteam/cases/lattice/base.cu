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
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    size_t size = (size_t)h * w;
    float v[9];
#pragma unroll
    for (int k = 0; k < 9; ++k) {
        int xs = (x - cx[k] + w) % w, ys = (y - cy[k] + h) % h;
        v[k] = f[k * size + (size_t)ys * w + xs];
    }
    relax(v, omega);
#pragma unroll
    for (int k = 0; k < 9; ++k) g[k * size + (size_t)y * w + x] = v[k];
}
