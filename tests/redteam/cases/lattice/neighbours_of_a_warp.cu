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
    int x = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    size_t size = (size_t)h * w;
    // Everybody stays for the shuffles; those beyond the row hold its last cell.
    int at = min(x, w - 1), left = at > 0 ? at - 1 : w - 1, right = at + 1 < w ? at + 1 : 0;
    bool first = lane == 0, last = lane == 31;
    for (int y = blockIdx.y; y < h; y += gridDim.y) {
        float v[9];
#pragma unroll
        for (int k = 0; k < 9; ++k) {
            int ys = y - cy[k];
            ys = ys < 0 ? h - 1 : ys >= h ? 0 : ys;
            const float* row = f + k * size + (size_t)ys * w;
            v[k] = row[at];
            if (cx[k] == 1) {
                v[k] = __shfl_up_sync(0xffffffffu, v[k], 1);
                if (first) v[k] = row[left];
            } else if (cx[k] == -1) {
                v[k] = __shfl_down_sync(0xffffffffu, v[k], 1);
                if (last) v[k] = row[right];
            }
        }
        relax(v, omega);
        if (x < w)
#pragma unroll
            for (int k = 0; k < 9; ++k) g[k * size + (size_t)y * w + x] = v[k];
    }
}
