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

// A node only ever moves towards its root, so one pair of arrays is enough.
__global__ void jump(unsigned* root, unsigned* cost, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned p = root[i];
    cost[i] += cost[p];
    root[i] = root[p];
}

extern "C" void rootcost(const unsigned* up, const unsigned* weight, unsigned* root, unsigned* cost, int n)
{
    if (n <= 0) return;
    const int blocks = (n + 255) / 256;
    start<<<blocks, 256>>>(up, weight, root, cost, n);
    for (int k = 0; (1LL << k) < n; k++) jump<<<blocks, 256>>>(root, cost, n);
}
