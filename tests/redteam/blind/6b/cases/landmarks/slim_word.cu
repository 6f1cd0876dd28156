// Farthest point sampling: k landmarks of n points, each the farthest from all before it.
#include <cuda_runtime.h>
#include <limits.h>

__global__ void start(int* near, int* order, int* spread, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) near[i] = INT_MAX;
    if (i == 0) { order[0] = 0; spread[0] = 0; }
}

// One pass: the distance to the newest landmark, and the farthest point as one word, distance above the flipped place, in 48 bits.
__global__ void relax(const int* px, const int* py, int* near, const unsigned long long* keys, unsigned long long* next,
                      int* order, int* spread, int step, int n)
{
    __shared__ unsigned long long most[8];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int c = step ? 0xffff - (int)(keys[step] & 0xffff) : 0;
    unsigned long long key = 0;
    if (i < n) {
        int dx = px[i] - px[c], dy = py[i] - py[c];
        int d = min(near[i], dx * dx + dy * dy);
        near[i] = d;
        key = (unsigned long long)d << 16 | (0xffffu - ((unsigned)i & 0xffffu));
    }
    if (i == 0 && step) { order[step] = c; spread[step] = (int)(keys[step] >> 16); }
    for (int s = 16; s; s >>= 1) {
        unsigned long long other = __shfl_xor_sync(0xffffffffu, key, s);
        if (other > key) key = other;
    }
    if (threadIdx.x % 32 == 0) most[threadIdx.x / 32] = key;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int v = 1; v < 8; v++)
            if (most[v] > key) key = most[v];
        atomicMax(next, key);
    }
}

void landmarks(const int* px, const int* py, int* near, int* order, int* spread, int n, int k)
{
    int blocks = (n + 255) / 256;
    unsigned long long* keys;
    cudaMallocAsync(&keys, (k + 1) * sizeof *keys, 0);
    cudaMemsetAsync(keys, 0, (k + 1) * sizeof *keys, 0);
    start<<<blocks, 256>>>(near, order, spread, n);
    for (int s = 0; s < k; s++) relax<<<blocks, 256>>>(px, py, near, keys, keys + s + 1, order, spread, s, n);
    cudaFreeAsync(keys, 0);
}
