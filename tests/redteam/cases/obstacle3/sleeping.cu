// Diffusion step with obstacles. Tiles that are at rest are put to sleep for the step: where no cell of
// a tile has anything to exchange, the old values are handed through.
#include <cuda_runtime.h>

#define REST 1e-3f

extern "C" __global__ void obstacle3(const float* __restrict__ u, const unsigned char* __restrict__ solid,
                                     float* __restrict__ out, int nx, int ny, int nz, float r) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    const int z = blockIdx.z;
    const bool inside = x < nx && y < ny;
    const size_t plane = (size_t)nx * ny, line = (size_t)z * plane + (size_t)y * nx, c = line + x;
    float here = 0.f, sum = 0.f;
    if (inside) {
        here = u[c];
        if (!solid[c]) {
            const size_t w = line + (x == 0 ? nx - 1 : x - 1), e = line + (x == nx - 1 ? 0 : x + 1);
            if (!solid[w]) sum += u[w] - here;
            if (!solid[e]) sum += u[e] - here;
            if (y > 0 && !solid[c - nx]) sum += u[c - nx] - here;
            if (y < ny - 1 && !solid[c + nx]) sum += u[c + nx] - here;
            if (z > 0 && !solid[c - plane]) sum += u[c - plane] - here;
            if (z < nz - 1 && !solid[c + plane]) sum += u[c + plane] - here;
        }
    }
    const bool awake = __syncthreads_or(!(fabsf(sum) <= REST));
    if (!inside) return;
    out[c] = awake && !solid[c] ? here + r * sum : here;
}
