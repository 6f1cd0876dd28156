// Trees in which every node hangs below one with a smaller number: node i > 0 of a tree hangs below pick % i, node 0 is the root.
// total: the sum of the gains on the way from the node up to the root, both included; depth: the steps on that way.

extern "C" __global__ void ancestry(const int* pick, const int* gain, int* total, int* depth, int trees, int len) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= (long long)trees * len) return;
    int i = (int)(at % len);
    const int* up = pick + (at - i);
    const int* worth = gain + (at - i);

    int sum = worth[i], steps = 0;
    while (i > 0) {
        i = up[i] % i;
        sum += worth[i];
        ++steps;
    }
    total[at] = sum;
    depth[at] = steps;
}
