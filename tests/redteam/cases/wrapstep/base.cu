#include <cuda_runtime.h>

// A leapfrog step in a periodic box, in place: velocities by the forces, places by the velocities,
// then back into the box; image counts the boxes that were crossed. Roundings are spelt out, so that
// a trajectory can be repeated.
extern "C" __global__ void wrapstep(float* place, float* velocity, int* image, const float* force,
                                    const float* inverse_mass, int n, float dt, float edge) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    float push = __fmul_rn(inverse_mass[i], dt);
    for (int c = 0; c < 3; c++) {
        size_t at = 3 * (size_t)i + c;
        float v = __fmaf_rn(force[at], push, velocity[at]);
        float x = __fmaf_rn(v, dt, place[at]);
        float crossed = floorf(__fdiv_rn(x, edge));
        velocity[at] = v;
        place[at] = __fmaf_rn(-crossed, edge, x);
        image[at] += (int)crossed;
    }
}
