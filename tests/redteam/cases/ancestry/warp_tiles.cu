// Trees in which every node hangs below one with a smaller number: node i > 0 of a tree hangs below pick % i, node 0 is the root.
// total: the sum of the gains on the way from the node up to the root, both included; depth: the steps on that way.
// A warp per tree, 32 nodes at a time, whose links are doubled by shuffles.

extern "C" __global__ void ancestry(const int* pick, const int* gain, int* total, int* depth, int trees, int len) {
    const unsigned all = 0xffffffffu;
    int t = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
    int lane = threadIdx.x & 31;
    if (t >= trees) return;
    size_t tree = (size_t)t * len;

    for (int first = 0; first < len; first += 32) {
        int i = first + lane;
        int sum = 0, step = 0, link = -1;
        if (i < len) {
            sum = gain[tree + i];
            if (i > 0) {
                int parent = pick[tree + i] % i;
                if (parent >= first) {
                    link = parent - first;
                    step = 1;
                } else {
                    sum += total[tree + parent];
                    step = depth[tree + parent] + 1;
                }
            }
        }
        for (int round = 0; round < 5; ++round) {
            int from = link < 0 ? lane : link;
            int more = __shfl_sync(all, sum, from);
            int further = __shfl_sync(all, step, from);
            int next = __shfl_sync(all, link, from);
            if (link >= 0) {
                sum += more;
                step += further;
                link = next;
            }
        }
        if (i < len) {
            total[tree + i] = sum;
            depth[tree + i] = step;
        }
        __syncwarp();
    }
}
