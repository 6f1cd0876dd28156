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
// has so for good, so that the order does not matter. A block goes on until none of its edges goes any more.
__global__ void unhooked(const int* a, const int* b, int* degree, unsigned char* gone, int m, int k) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    bool there = e < m && !gone[e], goes;
    do {
        goes = there && (((volatile int*)degree)[a[e]] < k || ((volatile int*)degree)[b[e]] < k);
        if (goes) {
            there = false;
            atomicSub(&degree[a[e]], 1);
            atomicSub(&degree[b[e]], 1);
        }
    } while (__syncthreads_or(goes));
}

__global__ void kept(const int* degree, int* left, int k) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < VERTICES) left[v] = degree[v] >= k;
}

extern "C" void peel(const int* a, const int* b, int* left, int m, int k) {
    int* degree;
    cudaMallocAsync((void**)&degree, VERTICES * sizeof(int) + m, 0);
    unsigned char* gone = (unsigned char*)(degree + VERTICES);
    cudaMemsetAsync(degree, 0, VERTICES * sizeof(int), 0);
    counted<<<(m + 255) / 256, 256>>>(a, b, degree, gone, m);
    unhooked<<<(m + 255) / 256, 256>>>(a, b, degree, gone, m, k);
    kept<<<(VERTICES + 255) / 256, 256>>>(degree, left, k);
    cudaFreeAsync(degree, 0);
}
