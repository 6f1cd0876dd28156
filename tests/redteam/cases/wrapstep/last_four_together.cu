#include <cuda_runtime.h>

__device__ __forceinline__ void step(float& x, float& v, int& image, float f, float push, float dt,
                                     float edge) {
    v = __fmaf_rn(f, push, v);
    x = __fmaf_rn(v, dt, x);
    float crossed = floorf(__fdiv_rn(x, edge));
    x = __fmaf_rn(-crossed, edge, x);
    image += (int)crossed;
}

// Four atoms a thread; one by one where there are less than four.
extern "C" __global__ void wrapstep(float* place, float* velocity, int* image, const float* force,
                                    const float* inverse_mass, int n, float dt, float edge) {
    long long first = 4 * (blockIdx.x * (long long)blockDim.x + threadIdx.x);
    // The last thread goes back so far that its four atoms are there.
    if (first < n && n >= 4) {
        first = min(first, n - 4ll);
        float4 masses = make_float4(inverse_mass[first], inverse_mass[first + 1],
                                    inverse_mass[first + 2], inverse_mass[first + 3]);
        float push[4] = {__fmul_rn(masses.x, dt), __fmul_rn(masses.y, dt),
                         __fmul_rn(masses.z, dt), __fmul_rn(masses.w, dt)};
        for (int c = 0; c < 12; c++) {
            long long at = 3 * first + c;
            step(place[at], velocity[at], image[at], force[at], push[c / 3], dt, edge);
        }
        return;
    }
    for (long long i = first; i < n && i < first + 4; i++) {
        float push = __fmul_rn(inverse_mass[i], dt);
        for (int c = 0; c < 3; c++) {
            long long at = 3 * i + c;
            step(place[at], velocity[at], image[at], force[at], push, dt, edge);
        }
    }
}
