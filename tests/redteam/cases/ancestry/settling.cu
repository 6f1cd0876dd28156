// Trees in which every node hangs below one with a smaller number: node i > 0 of a tree hangs below pick % i, node 0 is the root.
// total: the sum of the gains on the way from the node up to the root, both included; depth: the steps on that way.
// A block per tree, 256 nodes at a time. Every thread follows the links of its node, which get longer while others
// follow theirs: a word holds the sum, the steps and the link together, so that it is true at any time.

#include <cuda/atomic>

typedef unsigned long long word_t;

__device__ word_t pack(int sum, int steps, int link) {
    return (word_t)(unsigned)sum << 32 | (word_t)(steps & 0xffff) << 16 | (word_t)(link & 0xffff);
}

extern "C" __global__ void ancestry(const int* pick, const int* gain, int* total, int* depth, int trees, int len) {
    __shared__ word_t words[256];
    __shared__ int sums[256], steps[256];
    int tid = threadIdx.x;
    size_t tree = (size_t)blockIdx.x * len;

    for (int first = 0; first < len; first += 256) {
        int i = first + tid;
        // own, hops: what lies on the way from this node up to, but without, the node of the link
        int own = 0, hops = 0, link = tid;
        if (i < len) {
            int sum = gain[tree + i], step = 0;
            if (i > 0) {
                int parent = pick[tree + i] % i;
                if (parent >= first) {
                    own = sum;
                    hops = 1;
                    link = parent - first;
                } else {
                    sum += total[tree + parent];
                    step = depth[tree + parent] + 1;
                }
            }
            sums[tid] = sum;            // counts where the way leaves the 256 here
            steps[tid] = step;
        }
        words[tid] = pack(own, hops, link);
        __syncthreads();
        cuda::atomic_ref<word_t, cuda::thread_scope_block> mine(words[tid]);
        while (link != tid) {
            cuda::atomic_ref<word_t, cuda::thread_scope_block> theirs(words[link]);
            word_t w = theirs.load(cuda::memory_order_relaxed);
            int next = (int)(w & 0xffff);
            if (next == link) break;
            own += (int)(unsigned)(w >> 32);
            hops += (int)(w >> 16 & 0xffff);
            link = next;
            mine.store(pack(own, hops, link), cuda::memory_order_relaxed);
        }
        if (i < len) {
            total[tree + i] = own + sums[link];
            depth[tree + i] = hops + steps[link];
        }
        __syncthreads();
    }
}
