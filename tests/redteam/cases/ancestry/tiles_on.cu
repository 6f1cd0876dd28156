// Trees in which every node hangs below one with a smaller number: node i > 0 of a tree hangs below pick % i, node 0 is the root.
// total: the sum of the gains on the way from the node up to the root, both included; depth: the steps on that way.
// A block per tree, 256 nodes at a time. Ways that leave the 256 end in answers that are there already; within them
// the links are doubled 8 times, in two buffers by turns, with one barrier a round.

extern "C" __global__ void ancestry(const int* pick, const int* gain, int* total, int* depth, int trees, int len) {
    __shared__ int sums[2][256], steps[2][256], links[2][256];
    int tid = threadIdx.x;
    size_t tree = (size_t)blockIdx.x * len;

    for (int first = 0; first < len; first += 256) {
        int i = first + tid;
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
        for (int round = 0; round < 8; ++round) {
            int side = round & 1;
            sums[side][tid] = sum;
            steps[side][tid] = step;
            links[side][tid] = link;
            __syncthreads();
            if (link >= 0) {
                sum += sums[side][link];
                step += steps[side][link];
                link = links[side][link];
            }
        }
        if (i < len) {
            total[tree + i] = sum;
            depth[tree + i] = step;
        }
    }
}
