#include <cuda_runtime.h>

// Which visits are the first of their visitor: 1 where a number stands for the first time, 0 where it has been
// before. Who is not one of the m known ones counts for nothing.
__global__ void cleared(int* first, int m) {
    int k = blockIdx.x * 256 + threadIdx.x;
    if (k < m) first[k] = 0x7fffffff;
}

__global__ void entered(const int* id, int* first, int n, int m) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n && id[i] >= 0 && id[i] < m) atomicMin(first + id[i], i);
}

__global__ void told(const int* id, const int* first, int* fresh, int n, int m) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) fresh[i] = id[i] >= 0 && id[i] < m && first[id[i]] == i;
}

extern "C" void novel(const int* id, int* fresh, int n, int m) {
    int* first;
    cudaMalloc(&first, m * sizeof(int));
    cleared<<<(m + 255) / 256, 256>>>(first, m);
    entered<<<(n + 255) / 256, 256>>>(id, first, n, m);
    told<<<(n + 255) / 256, 256>>>(id, first, fresh, n, m);
    cudaFree(first);
}
