// Trees in which every node hangs below one with a smaller number: node i > 0 of a tree hangs below pick % i, node 0 is the root.
// total: the sum of the gains on the way from the node up to the root, both included; depth: the steps on that way.
// A block per tree, 256 nodes at a time. Every thread follows the links of its node, which get longer while others
// follow theirs: sum, steps and link of a node always belong to one way up.

extern "C" __global__ void ancestry(const int* pick, const int* gain, int* total, int* depth, int trees, int len) {
    __shared__ volatile int owns[256], hopss[256], links[256];
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
        owns[tid] = own;
        hopss[tid] = hops;
        links[tid] = link;
        __syncthreads();
        while (link != tid) {
            int next = links[link];
            if (next == link) break;
            own += owns[link];
            hops += hopss[link];
            link = next;
            owns[tid] = own;
            hopss[tid] = hops;
            links[tid] = link;
        }
        if (i < len) {
            total[tree + i] = own + sums[link];
            depth[tree + i] = hops + steps[link];
        }
        __syncthreads();
    }
}
