#include <cuda_runtime.h>

// The first of six planes that a sphere lies wholly behind, 6 if there is none.
__device__ int behind(const float4* plane, float4 s) {
    for (int k = 0; k < 6; ++k) {
        float4 p = plane[k];
        if (fmaf(p.x, s.x, fmaf(p.y, s.y, fmaf(p.z, s.z, p.w))) < -s.w) return k;
    }
    return 6;
}

// How many spheres each plane is the first for, at last those that are seen, and these, in any order. A block finds how
// many of its warps' spheres are seen, and asks for all of its places at once.
__global__ void both(const float4* sphere, const float4* plane, int* seen, int* count, int* often, int n) {
    __shared__ int own[7], of_warp[8], first;
    int t = threadIdx.x, w = t / 32, lane = t % 32;
    if (t < 7) own[t] = 0;
    for (size_t i0 = blockIdx.x * (size_t)256; i0 < n; i0 += gridDim.x * (size_t)256) {
        size_t i = i0 + t;
        int k = i < n ? behind(plane, sphere[i]) : -1;
        unsigned all = __ballot_sync(0xffffffffu, k == 6);
        if (lane == 0) of_warp[w] = __popc(all);
        __syncthreads();
        if (t == 0) {
            int sum = 0;
            for (int o = 0; o < 8; ++o) sum += of_warp[o];
            first = sum ? atomicAdd(count, sum) : 0;
        }
        if (k >= 0) atomicAdd(&own[k], 1);
        __syncthreads();
        if (k == 6) {
            int at = first + __popc(all & ((1u << lane) - 1));
            for (int o = 0; o < w; ++o) at += of_warp[o];
            seen[at] = i;
        }
        __syncthreads();
    }
    if (t < 7 && own[t]) atomicAdd(&often[t], own[t]);
}

// Which spheres a camera sees, with -1 behind them, how many, and how many each of its planes cuts off first.
extern "C" void cull(const float4* sphere, const float4* plane, int* seen, int* count, int* often, int n) {
    cudaMemsetAsync(seen, 0xff, n * sizeof(int), 0);
    cudaMemsetAsync(count, 0, sizeof(int), 0);
    cudaMemsetAsync(often, 0, 7 * sizeof(int), 0);
    both<<<min((n + 255) / 256, 1056), 256>>>(sphere, plane, seen, count, often, n);
}
