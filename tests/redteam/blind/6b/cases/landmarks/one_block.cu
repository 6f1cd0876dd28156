// Farthest point sampling: k landmarks of n points, each the farthest from all before it.
#include <cuda_runtime.h>
#include <limits.h>

__global__ void __launch_bounds__(1024) walk(const int* px, const int* py, int* near, int* order, int* spread, int n, int k)
{
    __shared__ int dist[32], at[32];
    __shared__ int chosen;
    int t = threadIdx.x, c = 0;
    if (t == 0) { order[0] = 0; spread[0] = 0; }
    for (int s = 0; s < k; s++) {
        int cx = px[c], cy = py[c], best = -1, where = INT_MAX;
        for (int i = t; i < n; i += 1024) {              // every thread comes back to its own points
            int dx = px[i] - cx, dy = py[i] - cy, d = dx * dx + dy * dy;
            if (s) d = min(d, near[i]);
            near[i] = d;
            if (d > best) { best = d; where = i; }
        }
        int top = __reduce_max_sync(0xffffffffu, best);
        where = __reduce_min_sync(0xffffffffu, best == top ? where : INT_MAX);
        if (t % 32 == 0) { dist[t / 32] = top; at[t / 32] = where; }
        __syncthreads();
        if (t < 32) {
            top = __reduce_max_sync(0xffffffffu, dist[t]);
            where = __reduce_min_sync(0xffffffffu, dist[t] == top ? at[t] : INT_MAX);
            if (t == 0) {
                chosen = where;
                if (s + 1 < k) { order[s + 1] = where; spread[s + 1] = top; }
            }
        }
        __syncthreads();
        c = chosen;
    }
}

void landmarks(const int* px, const int* py, int* near, int* order, int* spread, int n, int k)
{
    walk<<<1, 1024>>>(px, py, near, order, spread, n, k);
}
