// Root and depth of every node of a forest by pointer doubling. The parent of node i is raw[i] modulo i + 1: itself,
// then it is a root, or a node before it.
// In place: a node that sees its ancestor of this round already moved on gets further, never less far. One pair of
// buffers does, and they are the output.
#include <cuda_runtime.h>

__global__ void plant(const int* raw, int* up, int* far, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int p = raw[i] % (i + 1);
    up[i] = p;
    far[i] = p != i;
}

__global__ void jump(int* up, int* far, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int p = up[i];
    int q = up[p];
    if (q == p) return;
    int more = far[p];
    far[i] += more;
    up[i] = q;
}

extern "C" void treedepth(const int* raw, int* root, int* depth, int n)
{
    int grid = (n + 255) / 256;
    plant<<<grid, 256>>>(raw, root, depth, n);
    for (long long reach = 1; reach < n; reach *= 2) jump<<<grid, 256>>>(root, depth, n);
}
