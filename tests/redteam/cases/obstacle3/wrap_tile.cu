// Diffusion step with obstacles; every block shares its 32 x 8 patch of the plane through a tile with a
// rim, so that the neighbours in x and y are read from global memory once.
#include <cuda_runtime.h>
#define TX 32
#define TY 8

extern "C" __global__ void __launch_bounds__(TX * TY)
obstacle3(const float* __restrict__ u, const unsigned char* __restrict__ solid,
          float* __restrict__ out, int nx, int ny, int nz, float r) {
    __shared__ float tile[TY + 2][TX + 2];
    __shared__ unsigned char shut[TY + 2][TX + 2];
    const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    const int x = blockIdx.x * TX + threadIdx.x, y = blockIdx.y * TY + threadIdx.y, z = blockIdx.z;
    const size_t plane = (size_t)nx * ny, base = (size_t)z * plane;
    const bool inside = x < nx && y < ny;
    const size_t c = base + (size_t)y * nx + x;

    auto put = [&](int j, int k, int gy, int gx) {
        const bool there = gx >= 0 && gx < nx && gy >= 0 && gy < ny;
        tile[j][k] = there ? u[base + (size_t)gy * nx + gx] : 0.f;
        shut[j][k] = there ? solid[base + (size_t)gy * nx + gx] : 1;
    };
    put(ty, tx, y, x);
    if (threadIdx.x == 0) put(ty, 0, y, x == 0 ? nx - 1 : x - 1);
    if (threadIdx.x == TX - 1) put(ty, TX + 1, y, x + 1 == nx ? 0 : x + 1);
    if (threadIdx.y == 0) put(0, tx, y - 1, x);
    if (threadIdx.y == TY - 1) put(TY + 1, tx, y + 1, x);
    __syncthreads();

    if (!inside) return;
    const float here = tile[ty][tx];
    float v = here;
    if (!shut[ty][tx]) {
        float sum = 0.f;
        if (!shut[ty][tx - 1]) sum += tile[ty][tx - 1] - here;
        if (!shut[ty][tx + 1]) sum += tile[ty][tx + 1] - here;
        if (!shut[ty - 1][tx]) sum += tile[ty - 1][tx] - here;
        if (!shut[ty + 1][tx]) sum += tile[ty + 1][tx] - here;
        if (z > 0 && !solid[c - plane]) sum += u[c - plane] - here;
        if (z < nz - 1 && !solid[c + plane]) sum += u[c + plane] - here;
        v = here + r * sum;
    }
    out[c] = v;
}
