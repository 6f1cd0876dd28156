// Farthest point sampling: k landmarks of n points, each the farthest from all before it.
#include <cuda_runtime.h>
#include <limits.h>

__global__ void start(int* near, int* order, int* spread, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) near[i] = INT_MAX;
    if (i == 0) { order[0] = 0; spread[0] = 0; }
}

__global__ void relax(const int* px, const int* py, int* near, const int* order, int step, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int c = order[step];
    int dx = px[i] - px[c], dy = py[i] - py[c];
    int d = dx * dx + dy * dy;
    if (d < near[i]) near[i] = d;
}

// The farthest point, of equal ones the first: a part for each block, and the last block to come takes them together.
__device__ int part_dist[128], part_at[128];
__device__ unsigned ready;

__device__ void fold(int& best, int& where, int* dist, int* at)
{
    int t = threadIdx.x;
    int top = __reduce_max_sync(0xffffffffu, best);
    where = __reduce_min_sync(0xffffffffu, best == top ? where : INT_MAX);
    if (t % 32 == 0) { dist[t / 32] = top; at[t / 32] = where; }
    __syncthreads();
    best = top;
    if (t == 0)
        for (int v = 1; v < 8; v++)
            if (dist[v] > best || (dist[v] == best && at[v] < where)) { best = dist[v]; where = at[v]; }
    __syncthreads();
}

__global__ void farthest(const int* near, int* order, int* spread, int step, int n)
{
    __shared__ int dist[8], at[8];
    __shared__ bool last;
    int t = threadIdx.x, best = -1, where = INT_MAX;
    for (int i = blockIdx.x * 256 + t; i < n; i += gridDim.x * 256)
        if (near[i] > best) { best = near[i]; where = i; }
    fold(best, where, dist, at);
    if (t == 0) {
        part_dist[blockIdx.x] = best;
        part_at[blockIdx.x] = where;
        __threadfence();
        last = atomicInc(&ready, gridDim.x - 1) == gridDim.x - 1;     // wraps to zero by itself
    }
    __syncthreads();
    if (!last) return;
    __threadfence();
    best = -1;
    where = INT_MAX;
    if (t < gridDim.x) { best = __ldcg(part_dist + t); where = __ldcg(part_at + t); }
    fold(best, where, dist, at);
    if (t == 0) { order[step] = where; spread[step] = best; }
}

void landmarks(const int* px, const int* py, int* near, int* order, int* spread, int n, int k)
{
    int blocks = (n + 255) / 256, parts = blocks < 128 ? blocks : 128;
    start<<<blocks, 256>>>(near, order, spread, n);
    for (int s = 0; s < k; s++) {
        relax<<<blocks, 256>>>(px, py, near, order, s, n);
        if (s + 1 < k) farthest<<<parts, 256>>>(near, order, spread, s + 1, n);
    }
}
