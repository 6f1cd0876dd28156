#include <cuda_runtime.h>

// Momentum and kinetic energy of a whole system, as the integrator checks them after every step:
// totals = {px, py, pz, energy}. One block; sums in double, since the momenta nearly cancel.
extern "C" __global__ void drift(const float* velocity, const float* mass, float* totals, int n) {
    __shared__ double sums[4][1024];
    double px = 0.0, py = 0.0, pz = 0.0, energy = 0.0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        double m = mass[i];
        double x = velocity[3 * (size_t)i];
        double y = velocity[3 * (size_t)i + 1];
        double z = velocity[3 * (size_t)i + 2];
        px += m * x;
        py += m * y;
        pz += m * z;
        energy += 0.5 * m * (x * x + y * y + z * z);
    }
    sums[0][threadIdx.x] = px;
    sums[1][threadIdx.x] = py;
    sums[2][threadIdx.x] = pz;
    sums[3][threadIdx.x] = energy;
    __syncthreads();
    for (int half = 512; half > 0; half /= 2) {
        if (threadIdx.x < half && threadIdx.x + half < blockDim.x) {
            for (int c = 0; c < 4; c++) {
                sums[c][threadIdx.x] += sums[c][threadIdx.x + half];
            }
        }
        __syncthreads();
    }
    if (threadIdx.x < 4) {
        totals[threadIdx.x] = (float)sums[threadIdx.x][0];
    }
}
