// Labels the 4-connected regions of equal colour with their smallest pixel index, and counts them.
#include <cuda_runtime.h>

#define TPB 256

__global__ void begin(int* label, int cells) {
    int i = blockIdx.x * TPB + threadIdx.x;
    if (i < cells) label[i] = i;
}

// Union of the trees of two pixels: the larger root is hung below the smaller, again if someone was faster.
__device__ int root(volatile int* label, int i) {
    while (label[i] != i) i = label[i];
    return i;
}

__device__ void unite(int* label, int a, int b) {
    for (;;) {
        a = root(label, a);
        b = root(label, b);
        if (a == b) return;
        if (a < b) {
            int t = a;
            a = b;
            b = t;
        }
        int was = atomicMin(&label[a], b);
        if (was == a) return;
        a = was;
    }
}

__global__ void join(const unsigned char* __restrict__ image, int* label, int h, int w) {
    int i = blockIdx.x * TPB + threadIdx.x;
    if (i >= h * w) return;
    int y = i / w, x = i - y * w;
    if (x > 0 && image[i - 1] == image[i]) unite(label, i, i - 1);
    if (y > 0 && image[i - w] == image[i]) unite(label, i, i - w);
}

__global__ void flatten(int* label, int cells) {
    int i = blockIdx.x * TPB + threadIdx.x;
    if (i >= cells) return;
    volatile int* seen = label;
    int l = seen[i];
    while (seen[l] != l) l = seen[l];
    seen[i] = l;
}

__global__ void count_roots(const int* __restrict__ label, int cells, int* count) {
    int i = blockIdx.x * TPB + threadIdx.x;
    int roots = __syncthreads_count(i < cells && label[i] == i);
    if (threadIdx.x == 0 && roots) atomicAdd(count, roots);
}

extern "C" void islands(const unsigned char* image, int* label, int* count, int h, int w) {
    int cells = h * w;
    if (cells <= 0) return;
    int blocks = (cells + TPB - 1) / TPB;
    cudaMemsetAsync(count, 0, sizeof(int), 0);
    begin<<<blocks, TPB>>>(label, cells);
    join<<<blocks, TPB>>>(image, label, h, w);
    flatten<<<blocks, TPB>>>(label, cells);
    count_roots<<<blocks, TPB>>>(label, cells, count);
}
