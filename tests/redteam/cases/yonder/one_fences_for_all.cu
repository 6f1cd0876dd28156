#include <climits>

__device__ int4 joined(int4 a, int4 b) {
    if (b.x > a.x || (b.x == a.x && b.y < a.y)) a.x = b.x, a.y = b.y;
    if (b.z < a.z || (b.z == a.z && b.w > a.w)) a.z = b.z, a.w = b.w;
    return a;
}

__device__ int4 of_warp(int4 e) {
    for (int d = 16; d > 0; d /= 2) {
        int4 o;
        o.x = __shfl_xor_sync(0xffffffffu, e.x, d);
        o.y = __shfl_xor_sync(0xffffffffu, e.y, d);
        o.z = __shfl_xor_sync(0xffffffffu, e.z, d);
        o.w = __shfl_xor_sync(0xffffffffu, e.w, d);
        e = joined(e, o);
    }
    return e;
}

__device__ int4 parts[528 * 8];
__device__ unsigned done;

__global__ void yonder(const int* x, int* out, int n) {
    __shared__ int4 warps[8];
    __shared__ bool last;
    int t = threadIdx.x;
    int4 e = make_int4(INT_MIN, INT_MAX, INT_MAX, -1);
    for (long long i = blockIdx.x * 256ll + t; i < n; i += gridDim.x * 256ll)
        e = joined(e, make_int4(x[i], i, x[i], i));
    e = of_warp(e);
    if (t % 32 == 0) parts[blockIdx.x * 8 + t / 32] = e;
    __syncthreads();
    if (t == 0) {
        __threadfence();
        last = atomicAdd(&done, 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (!last) return;
    e = make_int4(INT_MIN, INT_MAX, INT_MAX, -1);
    for (int k = t; k < gridDim.x * 8; k += 256) e = joined(e, __ldcg(parts + k));
    e = of_warp(e);
    if (t % 32 == 0) warps[t / 32] = e;
    __syncthreads();
    if (t > 0) return;
    for (int k = 1; k < 8; ++k) e = joined(e, warps[k]);
    out[0] = e.x, out[1] = e.y, out[2] = e.z, out[3] = e.w;
    done = 0;
}
