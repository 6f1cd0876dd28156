// Labels the 4-connected regions of equal colour with their smallest pixel index, and counts them.
#include <cuda_runtime.h>

#define TPB 256

__global__ void begin(int* label, int cells) {
    int i = blockIdx.x * TPB + threadIdx.x;
    if (i < cells) label[i] = i;
}

// Every pixel takes the smallest label around it and offers it to the root of its own tree.
__global__ void hook(const unsigned char* __restrict__ image, int* label, int h, int w, int* changed) {
    int i = blockIdx.x * TPB + threadIdx.x;
    if (i >= h * w) return;
    volatile int* seen = label;
    int y = i / w, x = i - y * w;
    unsigned char colour = image[i];
    int own = seen[i], low = own;
    if (x > 0 && image[i - 1] == colour) low = min(low, seen[i - 1]);
    if (x < w - 1 && image[i + 1] == colour) low = min(low, seen[i + 1]);
    if (y > 0 && image[i - w] == colour) low = min(low, seen[i - w]);
    if (y < h - 1 && image[i + w] == colour) low = min(low, seen[i + w]);
    if (low < own) {
        atomicMin(&label[own], low);
        atomicMin(&label[i], low);
        atomicExch(changed, 1);
    }
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
    int* changed;
    cudaMalloc(&changed, sizeof(int));
    cudaMemsetAsync(count, 0, sizeof(int), 0);
    begin<<<blocks, TPB>>>(label, cells);
    // Asking the host after every turn costs more than a turn: four go out before the flag is read.
    for (int again = 1; again;) {
        for (int k = 0; k < 4; ++k) {
            if (k == 3) cudaMemsetAsync(changed, 0, sizeof(int), 0);
            hook<<<blocks, TPB>>>(image, label, h, w, changed);
            flatten<<<blocks, TPB>>>(label, cells);
        }
        cudaMemcpy(&again, changed, sizeof(int), cudaMemcpyDeviceToHost);
    }
    count_roots<<<blocks, TPB>>>(label, cells, count);
    cudaFree(changed);
}
