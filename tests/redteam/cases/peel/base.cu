#include <cuda_runtime.h>
#define VERTICES 2000

// Who is left of a graph when all with fewer than k edges are taken away, again and again. Edges count as
// often as they are given, those from one to itself do not.
__global__ void everyone(int* left) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < VERTICES) left[v] = 1;
}

__global__ void counted(const int* a, const int* b, const int* left, int* degree, int m) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= m || a[e] == b[e] || !left[a[e]] || !left[b[e]]) return;
    atomicAdd(&degree[a[e]], 1);
    atomicAdd(&degree[b[e]], 1);
}

__global__ void taken(const int* degree, int* left, int* changed, int k) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= VERTICES || !left[v] || degree[v] >= k) return;
    left[v] = 0;
    *changed = 1;
}

extern "C" void peel(const int* a, const int* b, int* left, int m, int k) {
    int *degree, changed;
    cudaMalloc(&degree, (VERTICES + 1) * sizeof(int));
    everyone<<<(VERTICES + 255) / 256, 256>>>(left);
    do {
        cudaMemsetAsync(degree, 0, (VERTICES + 1) * sizeof(int), 0);
        counted<<<(m + 255) / 256, 256>>>(a, b, left, degree, m);
        taken<<<(VERTICES + 255) / 256, 256>>>(degree, left, degree + VERTICES, k);
        cudaMemcpy(&changed, degree + VERTICES, sizeof(int), cudaMemcpyDeviceToHost);
    } while (changed);
    cudaFree(degree);
}
