// Axis-aligned bounding box of a point cloud and the point farthest from the origin (L1 norm).
// Floats are mapped to unsigned words of the same order, a warp reduces them with redux.sync, and one lane
// per block sends them to seven global accumulators by atomics. The last block decodes the accumulators
// and puts them back to their neutral values for the next launch.
#include <cuda_runtime.h>

#define TOP 0xff800000u     // code of +inf
#define LOW 0x007fffffu     // code of -inf

__device__ unsigned int g_lo[3] = {TOP, TOP, TOP};
__device__ unsigned int g_hi[3] = {LOW, LOW, LOW};
__device__ unsigned long long g_key = 0;
__device__ unsigned int arrived = 0;

__device__ __forceinline__ unsigned code(float f)
{
    unsigned u = __float_as_uint(f);
    return u ^ ((u >> 31) ? 0xffffffffu : 0x80000000u);
}

__device__ __forceinline__ float decode(unsigned c)
{
    return __uint_as_float(c ^ ((c >> 31) ? 0x80000000u : 0xffffffffu));
}

extern "C" __global__ void __launch_bounds__(512) hullbox(const float* pts, float* box, int* far, int n)
{
    __shared__ unsigned s_lo[3], s_hi[3];
    __shared__ unsigned long long s_key;
    if (threadIdx.x < 3) { s_lo[threadIdx.x] = TOP; s_hi[threadIdx.x] = LOW; }
    if (threadIdx.x == 0) s_key = 0;
    __syncthreads();

    unsigned lo[3] = {TOP, TOP, TOP}, hi[3] = {LOW, LOW, LOW};
    unsigned norm = 0, index = 0xffffffffu;     // norm holds bits + 1, so that 0 means "none"
    int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        const float* p = pts + 3 * (size_t)i;
        float x = p[0], y = p[1], z = p[2];
        float v[3] = {x, y, z};
#pragma unroll
        for (int c = 0; c < 3; ++c)
            if (v[c] == v[c]) {
                unsigned k = code(v[c]);
                lo[c] = min(lo[c], k);
                hi[c] = max(hi[c], k);
            }
        float d = (fabsf(x) + fabsf(y)) + fabsf(z);
        if (d == d) {
            unsigned k = __float_as_uint(d) + 1u;
            if (k > norm) { norm = k; index = i; }      // i only grows in a thread: the first of equals stays
        }
    }
#pragma unroll
    for (int c = 0; c < 3; ++c) {
        lo[c] = __reduce_min_sync(0xffffffffu, lo[c]);
        hi[c] = __reduce_max_sync(0xffffffffu, hi[c]);
    }
    unsigned best = __reduce_max_sync(0xffffffffu, norm);
    unsigned first = __reduce_min_sync(0xffffffffu, norm == best ? index : 0xffffffffu);
    if ((threadIdx.x & 31) == 0) {
        for (int c = 0; c < 3; ++c) { atomicMin(&s_lo[c], lo[c]); atomicMax(&s_hi[c], hi[c]); }
        if (best) atomicMax(&s_key, ((unsigned long long)best << 32) | (0xffffffffu - first));
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int c = 0; c < 3; ++c) {
            if (s_lo[c] != TOP) atomicMin(&g_lo[c], s_lo[c]);
            if (s_hi[c] != LOW) atomicMax(&g_hi[c], s_hi[c]);
        }
        if (s_key) atomicMax(&g_key, s_key);
        __threadfence();
        if (atomicInc(&arrived, gridDim.x - 1) == gridDim.x - 1) {      // wraps to 0 by itself
            __threadfence();
            for (int c = 0; c < 3; ++c) {
                box[c] = decode(atomicExch(&g_lo[c], TOP));
                box[3 + c] = decode(atomicExch(&g_hi[c], LOW));
            }
            unsigned long long key = atomicExch(&g_key, 0ull);
            far[0] = key ? (int)(0xffffffffu - (unsigned)key) : -1;
        }
    }
}
