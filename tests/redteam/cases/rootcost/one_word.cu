// Root of every node of a forest and the cost of the way to it, by pointer jumping.
// Node and cost share one 64-bit word, so the jumps can be made in place.
#include <cuda_runtime.h>
#include <cuda/atomic>

using word = unsigned long long;
using shared_word = cuda::atomic_ref<word, cuda::thread_scope_device>;

__global__ void start(const unsigned* up, const unsigned* weight, word* node, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned p = up[i] % (unsigned)(i + 1);
    node[i] = (word)p << 32 | (p == (unsigned)i ? 0u : weight[i]);
}

__global__ void jump(word* node, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const word mine = shared_word(node[i]).load(cuda::memory_order_relaxed);
    const word next = shared_word(node[mine >> 32]).load(cuda::memory_order_relaxed);
    const unsigned sum = (unsigned)mine + (unsigned)next;
    shared_word(node[i]).store((next >> 32) << 32 | sum, cuda::memory_order_relaxed);
}

__global__ void finish(const word* node, unsigned* root, unsigned* cost, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    root[i] = (unsigned)(node[i] >> 32);
    cost[i] = (unsigned)node[i];
}

extern "C" void rootcost(const unsigned* up, const unsigned* weight, unsigned* root, unsigned* cost, int n)
{
    if (n <= 0) return;
    const int blocks = (n + 255) / 256;
    word* node = nullptr;
    cudaMalloc(&node, (size_t)n * sizeof(word));
    start<<<blocks, 256>>>(up, weight, node, n);
    for (int k = 0; (1LL << k) < n; k++) jump<<<blocks, 256>>>(node, n);
    finish<<<blocks, 256>>>(node, root, cost, n);
    cudaFree(node);
}
