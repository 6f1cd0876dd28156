#include <cuda_runtime.h>

// Numbers below the pivot before all others, both in the order they have; how many are below is told.
// Numbers are in the order of their bits: whatever has a sign is below.
__device__ bool first(float v, float pivot) { return __float_as_int(v) < __float_as_int(pivot); }

__global__ void counted(const float* x, int* count, int n, float pivot, int from) {
    int b = from + blockIdx.x, i = b * 256 + threadIdx.x;
    int own = __syncthreads_count(i < n && first(x[i], pivot));
    if (threadIdx.x == 0) count[b] = own;
}

__global__ void offsets(int* count, int* below, int blocks) {
    __shared__ int sum[32];
    int t = threadIdx.x, lane = t % 32, warp = t / 32, part = (blocks + 1023) / 1024;
    int begin = min(blocks, t * part), end = min(blocks, begin + part), own = 0;
    for (int b = begin; b < end; ++b) own += count[b];
    int upto = own;
    for (int d = 1; d < 32; d *= 2) {
        int v = __shfl_up_sync(0xffffffffu, upto, d);
        if (lane >= d) upto += v;
    }
    if (lane == 31) sum[warp] = upto;
    __syncthreads();
    if (warp == 0) {
        int all = sum[lane];
        for (int d = 1; d < 32; d *= 2) {
            int v = __shfl_up_sync(0xffffffffu, all, d);
            if (lane >= d) all += v;
        }
        sum[lane] = all;
    }
    __syncthreads();
    int before = upto - own + (warp ? sum[warp - 1] : 0);
    for (int b = begin; b < end; ++b) {
        int here = count[b];
        count[b] = before;
        before += here;
    }
    if (t == 1023) *below = before;
}

__global__ void moved(const float* x, float* y, const int* count, const int* below, int n, float pivot) {
    __shared__ int sum[8];
    int i = blockIdx.x * 256 + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float v = i < n ? x[i] : 0.f;
    bool mine = i < n && first(v, pivot);
    unsigned votes = __ballot_sync(0xffffffffu, mine);
    if (lane == 0) sum[warp] = __popc(votes);
    __syncthreads();
    int before = count[blockIdx.x] + __popc(votes & ((1u << lane) - 1u));
    for (int w = 0; w < warp; ++w) before += sum[w];
    if (i < n) y[mine ? before : *below + i - before] = v;
}

extern "C" void parted(const float* x, float* y, int* below, int n, float pivot) {
    int blocks = (n + 255) / 256, *count;
    cudaMalloc(&count, blocks * sizeof(int));
    counted<<<blocks, 256>>>(x, count, n, pivot, 0);
    offsets<<<1, 1024>>>(count, below, blocks);
    moved<<<blocks, 256>>>(x, y, count, below, n, pivot);
    cudaFree(count);
}
