// Diffusion step with obstacles; a block walks up its column of cells and keeps three planes in
// registers, the plane above being fetched while this one is worked on.
#include <cuda_runtime.h>

extern "C" __global__ void obstacle3(const float* __restrict__ u, const unsigned char* __restrict__ solid,
                                     float* __restrict__ out, int nx, int ny, int nz, float r) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= nx || y >= ny) return;
    const size_t plane = (size_t)nx * ny, line = (size_t)y * nx;
    const int xw = x == 0 ? nx - 1 : x - 1, xe = x == nx - 1 ? 0 : x + 1;

    size_t base = line;
    float below = 0.f, here = u[base + x];
    bool sbelow = true, shere = solid[base + x];
    for (int z = 0; z < nz; ++z, base += plane) {
        const size_t c = base + x;
        const float above = u[c + plane];
        const bool sabove = solid[c + plane] || z == nz - 1;
        float v = here;
        if (!shere) {
            float sum = 0.f;
            if (!solid[base + xw]) sum += u[base + xw] - here;
            if (!solid[base + xe]) sum += u[base + xe] - here;
            if (y > 0 && !solid[c - nx]) sum += u[c - nx] - here;
            if (y < ny - 1 && !solid[c + nx]) sum += u[c + nx] - here;
            if (!sbelow) sum += below - here;
            if (!sabove) sum += above - here;
            v = here + r * sum;
        }
        out[c] = v;
        below = here; sbelow = shere;
        here = above; shere = sabove;
    }
}
