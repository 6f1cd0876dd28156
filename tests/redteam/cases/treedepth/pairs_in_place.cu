// Root and depth of every node of a forest by pointer doubling. The parent of node i is raw[i] modulo i + 1: itself,
// then it is a root, or a node before it.
// Ancestor and distance are one word of 64 bits, read and written whole: whatever state of the ancestor is seen, its
// distance belongs to it, and it is at least as far as this round's. So one buffer does, and a round makes one
// scattered access in place of two.
#include <cuda_runtime.h>

typedef unsigned long long u64;

__global__ void plant(const int* raw, u64* node, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int p = raw[i] % (i + 1);
    node[i] = (u64)(unsigned)p << 32 | (p != i);
}

__global__ void jump(u64* node, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    u64 mine = *(volatile u64*)&node[i];
    u64 above = *(volatile u64*)&node[mine >> 32];
    *(volatile u64*)&node[i] = (above & 0xffffffff00000000ull) | (unsigned)((unsigned)mine + (unsigned)above);
}

__global__ void part(const u64* node, int* root, int* depth, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    root[i] = (int)(node[i] >> 32);
    depth[i] = (int)(unsigned)node[i];
}

extern "C" void treedepth(const int* raw, int* root, int* depth, int n)
{
    u64* node;
    cudaMalloc(&node, sizeof(u64) * n);
    int grid = (n + 255) / 256;
    plant<<<grid, 256>>>(raw, node, n);
    for (long long reach = 1; reach < n; reach *= 2) jump<<<grid, 256>>>(node, n);
    part<<<grid, 256>>>(node, root, depth, n);
    cudaFree(node);
}
