// Diffusion step with obstacles; a block of 32 x 8 columns walks up through the planes. The plane in hand
// is shared through a tile with a rim, the planes above and below stay in registers. Solid cells
// and what lies behind the walls are marked in a second tile.
#include <cuda_runtime.h>
#define TX 32
#define TY 8

extern "C" __global__ void __launch_bounds__(TX * TY)
obstacle3(const float* __restrict__ u, const unsigned char* __restrict__ solid,
          float* __restrict__ out, int nx, int ny, int nz, float r) {
    __shared__ float tile[TY + 2][TX + 2];
    __shared__ unsigned char shut[TY + 2][TX + 2];
    const int x0 = blockIdx.x * TX, y0 = blockIdx.y * TY;
    const int tid = threadIdx.y * TX + threadIdx.x;
    const int x = x0 + threadIdx.x, y = y0 + threadIdx.y;
    const bool inside = x < nx && y < ny;
    const size_t plane = (size_t)nx * ny, col = (size_t)y * nx + x;
    const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;

    float below = 0.f, above = 0.f;
    bool sbelow = true, sabove = true;
    for (int z = 0; z < nz; ++z) {
        const size_t base = (size_t)z * plane;
        for (int i = tid; i < (TY + 2) * (TX + 2); i += TX * TY) {
            const int j = i / (TX + 2), k = i - j * (TX + 2);
            const int gy = y0 + j - 1;
            int gx = x0 + k - 1;
            if (gx < 0) gx = nx - 1;
            else if (gx == nx) gx = 0;       // the cell right of the last one is the first one
            const bool there = gx < nx && gy >= 0 && gy < ny;
            const size_t g = base + (size_t)gy * nx + gx;
            tile[j][k] = there ? u[g] : 0.f;
            shut[j][k] = there ? solid[g] : 1;
        }
        if (inside) {
            const bool last = z == nz - 1;
            above = last ? 0.f : u[base + plane + col];
            sabove = last || solid[base + plane + col];
        }
        __syncthreads();
        const float here = tile[ty][tx];
        const bool shere = shut[ty][tx];
        if (inside) {
            float v = here;
            if (!shere) {
                float sum = 0.f;
                if (!shut[ty][tx - 1]) sum += tile[ty][tx - 1] - here;
                if (!shut[ty][tx + 1]) sum += tile[ty][tx + 1] - here;
                if (!shut[ty - 1][tx]) sum += tile[ty - 1][tx] - here;
                if (!shut[ty + 1][tx]) sum += tile[ty + 1][tx] - here;
                if (!sbelow) sum += below - here;
                if (!sabove) sum += above - here;
                v = here + r * sum;
            }
            out[base + col] = v;
            below = here; sbelow = shere;
        }
    }
}
