#include <cuda_runtime.h>

__device__ __forceinline__ void step(float& x, float& v, int& image, float f, float push, float dt,
                                     float edge) {
    v = __fmaf_rn(f, push, v);
    x = __fmaf_rn(v, dt, x);
    float crossed = floorf(__fdiv_rn(x, edge));
    x = __fmaf_rn(-crossed, edge, x);
    image += (int)crossed;
}

// Four atoms a thread, three vectors of each array; one by one at the end and where arrays do not
// begin at sixteen bytes.
extern "C" __global__ void wrapstep(float* place, float* velocity, int* image, const float* force,
                                    const float* inverse_mass, int n, float dt, float edge) {
    size_t bits = (size_t)place | (size_t)velocity | (size_t)image | (size_t)force |
                  (size_t)inverse_mass;
    long long first = 4 * (blockIdx.x * (long long)blockDim.x + threadIdx.x);
    if (first + 4 <= n && (bits & 15) == 0) {
        float4 masses = *(const float4*)(inverse_mass + first);
        float push[4] = {__fmul_rn(masses.x, dt), __fmul_rn(masses.y, dt),
                         __fmul_rn(masses.z, dt), __fmul_rn(masses.w, dt)};
#pragma unroll
        for (int part = 0; part < 3; part++) {
            long long at = 3 * first + 4 * part;
            float4 x = *(float4*)(place + at);
            float4 v = *(float4*)(velocity + at);
            int4 b = *(int4*)(image + at);
            float4 f = *(const float4*)(force + at);
            step(x.x, v.x, b.x, f.x, push[(4 * part) / 3], dt, edge);
            step(x.y, v.y, b.y, f.y, push[(4 * part + 1) / 3], dt, edge);
            step(x.z, v.z, b.z, f.z, push[(4 * part + 2) / 3], dt, edge);
            step(x.w, v.w, b.w, f.w, push[(4 * part + 3) / 3], dt, edge);
            *(float4*)(place + at) = x;
            *(float4*)(velocity + at) = v;
            *(int4*)(image + at) = b;
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
