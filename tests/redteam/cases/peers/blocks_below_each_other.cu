#include <cstdio>
#include <cuda_runtime.h>

__global__ void counted(const unsigned short* key, int* many, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(many + key[i], 1);
}

__global__ void told(const unsigned short* key, const int* many, int* rows, int n) {
    int i = blockIdx.y * blockDim.x + threadIdx.x;
    if (i < n) rows[i] = many[key[i]];
}

// For each row, how many rows have its key. Blocks that tell are small, and stand below each other.
extern "C" void peers(const unsigned short* key, int* rows, int n) {
    static int* many = nullptr;
    if (!many) cudaMalloc(&many, 65536 * sizeof(int));
    cudaMemsetAsync(many, 0, 65536 * sizeof(int), 0);
    counted<<<(n + 255) / 256, 256>>>(key, many, n);
    told<<<dim3(1, (n + 63) / 64), 64>>>(key, many, rows, n);
}
