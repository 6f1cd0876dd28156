// Root of every node of a forest and the cost of the way to it, by pointer jumping.
#include <cuda_runtime.h>
#include <utility>

__global__ void start(const unsigned* up, const unsigned* weight, unsigned* root, unsigned* cost, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned p = up[i] % (unsigned)(i + 1);        // itself: a root
    root[i] = p;
    cost[i] = p == (unsigned)i ? 0u : weight[i];
}

__global__ void jump(const unsigned* root, const unsigned* cost, unsigned* root2, unsigned* cost2, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned p = root[i], sum = cost[i];
    for (int k = 0; k < 3; k++) {
        sum += cost[p];
        p = root[p];
    }
    root2[i] = p;
    cost2[i] = sum;
}

extern "C" void rootcost(const unsigned* up, const unsigned* weight, unsigned* root, unsigned* cost, int n)
{
    if (n <= 0) return;
    const int blocks = (n + 255) / 256;
    unsigned *r = nullptr, *c = nullptr;
    cudaMalloc(&r, (size_t)n * sizeof(unsigned));
    cudaMalloc(&c, (size_t)n * sizeof(unsigned));
    unsigned *r0 = root, *c0 = cost, *r1 = r, *c1 = c;
    start<<<blocks, 256>>>(up, weight, r0, c0, n);
    int rounds = 0;
    while ((1LL << 2 * rounds) < n) rounds++;
    for (int k = 0; k < rounds; k++) {
        jump<<<blocks, 256>>>(r0, c0, r1, c1, n);
        std::swap(r0, r1);
        std::swap(c0, c1);
    }
    if (r0 != root) {
        cudaMemcpyAsync(root, r0, (size_t)n * sizeof(unsigned), cudaMemcpyDeviceToDevice);
        cudaMemcpyAsync(cost, c0, (size_t)n * sizeof(unsigned), cudaMemcpyDeviceToDevice);
    }
    cudaFree(r);
    cudaFree(c);
}
