// Diffusion step with obstacles on a fixed grid of blocks: a flat walk over all cells, coordinates by
// division; the cell number stays 64 bits wide.
#include <cuda_runtime.h>

extern "C" __global__ void __launch_bounds__(256)
obstacle3(const float* __restrict__ u, const unsigned char* __restrict__ solid,
          float* __restrict__ out, int nx, int ny, int nz, float r) {
    const unsigned plane = (unsigned)nx * ny;
    const unsigned long long cells = (unsigned long long)plane * nz;
    for (unsigned long long i = blockIdx.x * 256ull + threadIdx.x; i < cells; i += gridDim.x * 256ull) {
        const unsigned z = i / plane, p = (unsigned)(i - (unsigned long long)z * plane);
        const unsigned y = p / (unsigned)nx, x = p - y * nx;
        const float here = u[i];
        float sum = 0.f;
        if (!solid[i]) {
            // the ends of a line are neighbours: step back or on by nx - 1
            const unsigned long long w = x ? i - 1 : i + (nx - 1), e = x + 1 < (unsigned)nx ? i + 1 : i - (nx - 1);
            if (z + 1 < (unsigned)nz && !solid[i + plane]) sum += u[i + plane] - here;
            if (z && !solid[i - plane]) sum += u[i - plane] - here;
            if (y + 1 < (unsigned)ny && !solid[i + nx]) sum += u[i + nx] - here;
            if (y && !solid[i - nx]) sum += u[i - nx] - here;
            if (!solid[e]) sum += u[e] - here;
            if (!solid[w]) sum += u[w] - here;
        }
        out[i] = solid[i] ? here : fmaf(r, sum, here);
    }
}
