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

// The farthest point, of equal ones the first.
__global__ void farthest(const int* near, int* order, int* spread, int step, int n)
{
    __shared__ int dist[1024], at[1024];
    int t = threadIdx.x, best = -1, where = INT_MAX;
    for (int i = t; i < n; i += 1024)
        if (near[i] > best) { best = near[i]; where = i; }
    dist[t] = best; at[t] = where;
    __syncthreads();
    for (int s = 512; s > 0; s >>= 1) {
        if (t < s && (dist[t + s] > dist[t] || (dist[t + s] == dist[t] && at[t + s] < at[t]))) {
            dist[t] = dist[t + s];
            at[t] = at[t + s];
        }
        __syncthreads();
    }
    if (t == 0) { order[step] = at[0]; spread[step] = dist[0]; }
}

void landmarks(const int* px, const int* py, int* near, int* order, int* spread, int n, int k)
{
    int blocks = (n + 255) / 256;
    start<<<blocks, 256>>>(near, order, spread, n);
    for (int s = 0; s < k; s++) {
        relax<<<blocks, 256>>>(px, py, near, order, s, n);
        if (s + 1 < k) farthest<<<1, 1024>>>(near, order, spread, s + 1, n);
    }
}
