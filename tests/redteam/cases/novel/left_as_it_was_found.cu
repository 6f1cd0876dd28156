#include <cuda_runtime.h>

// Which visits are the first of their visitor: 1 where a number stands for the first time, 0 where it has been
// before. Who is not one of the m known ones counts for nothing. Whoever is first clears his entry behind him:
// the others are told 0 by what was there and by what is there then.
__global__ void cleared(int* first, int m) {
    int k = blockIdx.x * 256 + threadIdx.x;
    if (k < m) first[k] = 0x7fffffff;
}

__global__ void entered(const int* id, int* first, int n, int m) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n && id[i] >= 0 && id[i] < m) atomicMin(first + id[i], i);
}

__global__ void told(const int* id, int* first, int* fresh, int n, int m) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n) return;
    volatile int* place = first + id[i];
    bool mine = id[i] >= 0 && id[i] < m && *place == i;
    if (mine) *place = 0x7fffffff;
    fresh[i] = mine;
}

extern "C" void novel(const int* id, int* fresh, int n, int m) {
    static int *first, room;
    if (m > room) {
        cudaFree(first);
        cudaMalloc(&first, m * sizeof(int));
        cleared<<<(m + 255) / 256, 256>>>(first, m);
        room = m;
    }
    entered<<<(n + 255) / 256, 256>>>(id, first, n, m);
    told<<<(n + 255) / 256, 256>>>(id, first, fresh, n, m);
}
