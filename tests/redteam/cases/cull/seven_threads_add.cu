#include <cuda_runtime.h>

// The first of six planes that a sphere lies wholly behind, 6 if there is none.
__device__ int behind(const float4* plane, float4 s) {
    for (int k = 0; k < 6; ++k) {
        float4 p = plane[k];
        if (fmaf(p.x, s.x, fmaf(p.y, s.y, fmaf(p.z, s.z, p.w))) < -s.w) return k;
    }
    return 6;
}

// How many spheres each plane is the first for, and at last those that are seen; a block counts its own first.
__global__ void tally(const float4* sphere, const float4* plane, int* often, int n) {
    __shared__ int own[7];
    if (threadIdx.x < 7) own[threadIdx.x] = 0;
    __syncthreads();
    for (size_t i = blockIdx.x * (size_t)256 + threadIdx.x; i < n; i += gridDim.x * (size_t)256)
        atomicAdd(&own[behind(plane, sphere[i])], 1);
    __syncthreads();
    if (threadIdx.x < 7 && own[threadIdx.x]) often[threadIdx.x] += own[threadIdx.x];
}

// The spheres that are seen, in any order: a warp asks for all of its places at once.
__global__ void listed(const float4* sphere, const float4* plane, int* seen, int* count, int n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    int lane = threadIdx.x % 32, first = 0;
    bool mine = i < n && behind(plane, sphere[i]) == 6;
    unsigned all = __ballot_sync(0xffffffffu, mine);
    if (lane == 0 && all) first = atomicAdd(count, __popc(all));
    first = __shfl_sync(0xffffffffu, first, 0);
    if (mine) seen[first + __popc(all & ((1u << lane) - 1))] = i;
}

// Which spheres a camera sees, with -1 behind them, how many, and how many each of its planes cuts off first.
extern "C" void cull(const float4* sphere, const float4* plane, int* seen, int* count, int* often, int n) {
    cudaMemsetAsync(seen, 0xff, n * sizeof(int), 0);
    cudaMemsetAsync(count, 0, sizeof(int), 0);
    cudaMemsetAsync(often, 0, 7 * sizeof(int), 0);
    tally<<<min((n + 255) / 256, 1056), 256>>>(sphere, plane, often, n);
    listed<<<(n + 255) / 256, 256>>>(sphere, plane, seen, count, n);
}
