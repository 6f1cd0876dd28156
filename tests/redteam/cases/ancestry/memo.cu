// Trees in which every node hangs below one with a smaller number: node i > 0 of a tree hangs below pick % i, node 0 is the root.
// total: the sum of the gains on the way from the node up to the root, both included; depth: the steps on that way.
// A node on the way whose answer is there already ends the walk: a depth above 0 says that its total has been written.

extern "C" __global__ void ancestry(const int* pick, const int* gain, int* total, int* depth, int trees, int len) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= (long long)trees * len) return;
    int i = (int)(at % len);
    const int* up = pick + (at - i);
    const int* worth = gain + (at - i);
    volatile int* sums = total + (at - i);
    volatile int* known = depth + (at - i);

    int self = i;
    int sum = worth[i], steps = 0;
    while (i > 0) {
        i = up[i] % i;
        ++steps;
        int more = i > 0 ? known[i] : 0;
        if (more > 0 && more <= i) {
            __threadfence();
            sum += sums[i];
            steps += more;
            break;
        }
        sum += worth[i];
    }
    sums[self] = sum;
    __threadfence();
    known[self] = steps;
}
