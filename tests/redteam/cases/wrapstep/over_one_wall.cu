#include <cuda_runtime.h>

// A thread a number, not an atom: neighbours lie side by side. Blocks stay.
extern "C" __global__ void wrapstep(float* place, float* velocity, int* image, const float* force,
                                    const float* inverse_mass, int n, float dt, float edge) {
    long long all = 3ll * n;
    long long stride = (long long)gridDim.x * blockDim.x;
    for (long long at = blockIdx.x * (long long)blockDim.x + threadIdx.x; at < all; at += stride) {
        float push = __fmul_rn(inverse_mass[at / 3], dt);
        float v = __fmaf_rn(force[at], push, velocity[at]);
        float x = __fmaf_rn(v, dt, place[at]);
        // A step is short: at most one wall is crossed.
        float crossed = x < 0.0f ? -1.0f : x >= edge ? 1.0f : 0.0f;
        velocity[at] = v;
        place[at] = __fmaf_rn(-crossed, edge, x);
        // Most stay where they are, and their image need not be read.
        if (crossed != 0.0f) {
            image[at] += (int)crossed;
        }
    }
}
