#include <cuda_runtime.h>
#define VERTICES 2000

// Who is left of a graph when all with fewer than k edges are taken away, again and again. Edges count as
// often as they are given, those from one to itself do not.
__global__ void counted(const int* a, const int* b, int* degree, unsigned char* gone, int m) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= m) return;
    gone[e] = a[e] == b[e];
    if (gone[e]) return;
    atomicAdd(&degree[a[e]], 1);
    atomicAdd(&degree[b[e]], 1);
}

// An edge goes once one of its ends has too few, and the other has one less. Whoever has too few at any time
// has so for good, so that the order does not matter.
__global__ void unhooked(const int* a, const int* b, int* degree, unsigned char* gone, int* changed, int m, int k) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= m || gone[e]) return;
    bool from = ((volatile int*)degree)[a[e]] < k, to = ((volatile int*)degree)[b[e]] < k;
    if (!from && !to) return;
    gone[e] = 1;
    atomicSub(&degree[a[e]], 1);
    atomicSub(&degree[b[e]], 1);
    *changed = 1;
}

__global__ void kept(const int* degree, int* left, int k) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < VERTICES) left[v] = degree[v] >= k;
}

extern "C" void peel(const int* a, const int* b, int* left, int m, int k) {
    int *degree, changed;
    cudaMallocAsync((void**)&degree, (VERTICES + 1) * sizeof(int) + m, 0);
    unsigned char* gone = (unsigned char*)(degree + VERTICES + 1);
    cudaMemsetAsync(degree, 0, VERTICES * sizeof(int), 0);
    counted<<<(m + 255) / 256, 256>>>(a, b, degree, gone, m);
    do {
        // Twice before it is asked for; what the second one finds counts.
        unhooked<<<(m + 255) / 256, 256>>>(a, b, degree, gone, degree + VERTICES, m, k);
        cudaMemsetAsync(degree + VERTICES, 0, sizeof(int), 0);
        unhooked<<<(m + 255) / 256, 256>>>(a, b, degree, gone, degree + VERTICES, m, k);
        cudaMemcpyAsync(&changed, degree + VERTICES, sizeof(int), cudaMemcpyDeviceToHost, 0);
        cudaStreamSynchronize(0);
    } while (changed);
    kept<<<(VERTICES + 255) / 256, 256>>>(degree, left, k);
    cudaFreeAsync(degree, 0);
}
