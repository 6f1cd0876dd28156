// Stable split by sign: first the negative numbers, then the zeros (of either sign), then all others (NaN among them),
// each in the order of the input. src tells where each came from, counts how many there are of each kind.
#include <cuda_runtime.h>

#define TILE 256

__device__ int kind_of(float v)
{
    return v < 0.0f ? 0 : v == 0.0f ? 1 : 2;
}

__global__ void __launch_bounds__(TILE) tally(const float* x, int n, int* part)
{
    __shared__ int count[3];
    if (threadIdx.x < 3) count[threadIdx.x] = 0;
    __syncthreads();
    int i = blockIdx.x * TILE + threadIdx.x;
    if (i < n) atomicAdd(&count[kind_of(x[i])], 1);
    __syncthreads();
    if (threadIdx.x < 3) part[threadIdx.x * gridDim.x + blockIdx.x] = count[threadIdx.x];
}

// exclusive sums of part, in place, by one block; where the kinds begin gives their counts
__global__ void __launch_bounds__(1024) offsets(int* part, int tiles, int n, int* counts)
{
    __shared__ int sums[1024];
    int total = 3 * tiles;
    int each = (total + 1023) / 1024;
    int lo = min(total, (int)threadIdx.x * each), hi = min(total, lo + each);
    int s = 0;
    for (int k = lo; k < hi; ++k) s += part[k];
    sums[threadIdx.x] = s;
    __syncthreads();
    for (int o = 1; o < 1024; o <<= 1) {
        int u = threadIdx.x >= o ? sums[threadIdx.x - o] : 0;
        __syncthreads();
        sums[threadIdx.x] += u;
        __syncthreads();
    }
    int run = sums[threadIdx.x] - s;
    for (int k = lo; k < hi; ++k) {
        int c = part[k];
        part[k] = run;
        run += c;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        counts[0] = part[tiles];
        counts[1] = part[2 * tiles] - part[tiles];
        counts[2] = n - part[2 * tiles];
    }
}

__global__ void __launch_bounds__(TILE) place(const float* x, int n, const int* part, float* y, int* src)
{
    __shared__ int warps[3][TILE / 32];
    int i = blockIdx.x * TILE + threadIdx.x;
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    float v = i < n ? x[i] : 0.0f;
    int kind = i < n ? kind_of(v) : 3;
    int rank = 0;
    for (int k = 0; k < 3; ++k) {
        unsigned same = __ballot_sync(0xffffffffu, kind == k);
        if (kind == k) rank = __popc(same & ((1u << lane) - 1));
        if (lane == 0) warps[k][warp] = __popc(same);
    }
    __syncthreads();
    if (i >= n) return;
    for (int k = 0; k < warp; ++k) rank += warps[kind][k];
    int to = part[kind * gridDim.x + blockIdx.x] + rank;
    y[to] = v;
    src[to] = i;
}

extern "C" void picket(const float* x, float* y, int* src, int* counts, int n)
{
    int tiles = (n + TILE - 1) / TILE;
    int* part = nullptr;
    cudaMalloc(&part, sizeof(int) * 3 * tiles);
    tally<<<tiles, TILE>>>(x, n, part);
    offsets<<<1, 1024>>>(part, tiles, n, counts);
    place<<<tiles, TILE>>>(x, n, part, y, src);
    cudaFree(part);
}
