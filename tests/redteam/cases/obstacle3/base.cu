// One explicit diffusion step on a grid with obstacles: periodic in x, closed walls in y and z, no flux
// into or out of solid cells; a solid cell keeps its value. out and u are different buffers.
#include <cuda_runtime.h>

extern "C" __global__ void obstacle3(const float* u, const unsigned char* solid, float* out,
                                     int nx, int ny, int nz, float r) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    const int z = blockIdx.z;
    if (x >= nx || y >= ny) return;
    const size_t plane = (size_t)nx * ny, line = (size_t)z * plane + (size_t)y * nx, c = line + x;
    const float here = u[c];
    if (solid[c]) { out[c] = here; return; }
    float sum = 0.f;
    const size_t w = line + (x == 0 ? nx - 1 : x - 1), e = line + (x == nx - 1 ? 0 : x + 1);
    if (!solid[w]) sum += u[w] - here;
    if (!solid[e]) sum += u[e] - here;
    if (y > 0 && !solid[c - nx]) sum += u[c - nx] - here;
    if (y < ny - 1 && !solid[c + nx]) sum += u[c + nx] - here;
    if (z > 0 && !solid[c - plane]) sum += u[c - plane] - here;
    if (z < nz - 1 && !solid[c + plane]) sum += u[c + plane] - here;
    out[c] = here + r * sum;
}
