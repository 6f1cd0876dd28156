#include <cuda_runtime.h>
#define VERTICES 2000

// Who is left of a graph when all with fewer than k edges are taken away, again and again. Edges count as
// often as they are given, those from one to itself do not.
__global__ void __launch_bounds__(1024) peeled(const int* a, const int* b, int* left, int m, int k) {
    __shared__ int degree[VERTICES];
    __shared__ bool there[VERTICES];
    for (int v = threadIdx.x; v < VERTICES; v += 1024) there[v] = true;
    bool changed;
    do {
        for (int v = threadIdx.x; v < VERTICES; v += 1024) degree[v] = 0;
        __syncthreads();
        for (size_t e = threadIdx.x; e < m; e += 1024) {
            int from = a[e], to = b[e];
            if (from == to || !there[from] || !there[to]) continue;
            atomicAdd(&degree[from], 1);
            atomicAdd(&degree[to], 1);
        }
        __syncthreads();
        changed = false;
        for (int v = threadIdx.x; v < VERTICES; v += 1024)
            if (there[v] && degree[v] < k) there[v] = false, changed = true;
    } while (__syncthreads_or(changed));
    for (int v = threadIdx.x; v < VERTICES; v += 1024) left[v] = there[v];
}

extern "C" void peel(const int* a, const int* b, int* left, int m, int k) {
    peeled<<<1, 1024>>>(a, b, left, m, k);
}
