// Root and depth of every node of a forest by pointer doubling. The parent of node i is raw[i] modulo i + 1: itself,
// then it is a root, or a node before it.
// A round makes up to three hops, so that the reach grows by a factor of four and half of the rounds go.
#include <cuda_runtime.h>

__global__ void plant(const int* raw, int* up, int* far, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int p = raw[i] % (i + 1);
    up[i] = p;
    far[i] = p != i;
}

__global__ void jump(const int* up, const int* far, int* up2, int* far2, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int p = up[i];
    int sum = far[i];
#pragma unroll
    for (int hop = 0; hop < 3; ++hop) {
        int q = up[p];
        sum += far[p];
        if (q == p) break;
        p = q;
    }
    up2[i] = p;
    far2[i] = sum;
}

extern "C" void treedepth(const int* raw, int* root, int* depth, int n)
{
    int* up;
    int* far;
    cudaMalloc(&up, sizeof(int) * n);
    cudaMalloc(&far, sizeof(int) * n);
    int grid = (n + 255) / 256;
    int rounds = 0;
    while (1ll << 2 * rounds < n) ++rounds;
    // The last round has to write into the output.
    int *a = root, *b = depth, *c = up, *d = far;
    if (rounds % 2) { a = up; b = far; c = root; d = depth; }
    plant<<<grid, 256>>>(raw, a, b, n);
    for (int r = 0; r < rounds; ++r) {
        jump<<<grid, 256>>>(a, b, c, d, n);
        int* t = a; a = c; c = t;
        t = b; b = d; d = t;
    }
    cudaFree(up);
    cudaFree(far);
}
