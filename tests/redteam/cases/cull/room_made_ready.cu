#include <cuda_runtime.h>

// The first of six planes that a sphere lies wholly behind, 6 if there is none.
__device__ int behind(const float4* plane, float4 s) {
    for (int k = 0; k < 6; ++k) {
        float4 p = plane[k];
        if (fmaf(p.x, s.x, fmaf(p.y, s.y, fmaf(p.z, s.z, p.w))) < -s.w) return k;
    }
    return 6;
}

// What each sphere lies behind, so that it is asked once.
__global__ void tally(const float4* sphere, const float4* plane, unsigned char* first, int* often, int n) {
    __shared__ int own[7];
    if (threadIdx.x < 7) own[threadIdx.x] = 0;
    __syncthreads();
    for (size_t i = blockIdx.x * (size_t)256 + threadIdx.x; i < n; i += gridDim.x * (size_t)256) {
        int k = behind(plane, sphere[i]);
        first[i] = k;
        atomicAdd(&own[k], 1);
    }
    __syncthreads();
    if (threadIdx.x < 7 && own[threadIdx.x]) atomicAdd(&often[threadIdx.x], own[threadIdx.x]);
}

// The spheres that are seen, in any order: a warp asks for all of its places at once.
__global__ void listed(const unsigned char* first, int* seen, int* count, int n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    int lane = threadIdx.x % 32, at = 0;
    bool mine = i < n && first[i] == 6;
    unsigned all = __ballot_sync(0xffffffffu, mine);
    if (lane == 0 && all) at = atomicAdd(count, __popc(all));
    at = __shfl_sync(0xffffffffu, at, 0);
    if (mine) seen[at + __popc(all & ((1u << lane) - 1))] = i;
}

// Room for what spheres lie behind, from the start: a scene has a million at most.
static unsigned char* made_ready() {
    unsigned char* some = nullptr;
    cudaMalloc(&some, 1 << 20);
    return some;
}
static unsigned char* const room = made_ready();

// Which spheres a camera sees, with -1 behind them, how many, and how many each of its planes cuts off first.
extern "C" void cull(const float4* sphere, const float4* plane, int* seen, int* count, int* often, int n) {
    cudaMemsetAsync(seen, 0xff, n * sizeof(int), 0);
    cudaMemsetAsync(count, 0, sizeof(int), 0);
    cudaMemsetAsync(often, 0, 7 * sizeof(int), 0);
    tally<<<min((n + 255) / 256, 1056), 256>>>(sphere, plane, room, often, n);
    listed<<<(n + 255) / 256, 256>>>(room, seen, count, n);
}
