// One round of label propagation on a graph with a fixed number of neighbour slots a node (slots outside 0..n-1 are
// empty): every node takes the label most common among its neighbours, the smallest of several equally common ones;
// a node without neighbours keeps its own. The number of nodes whose label changed is added to changed[0].

extern "C" __global__ void labelvote(const int* slot, const int* label, int* next, int* changed, int n, int deg)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int* mine = slot + (size_t)i * deg;
    int best = label[i], most = 0;
    unsigned long long count = 0;  // labels are 0..6: a byte for each
    for (int a = 0; a < deg; ++a) {
        const int u = mine[a];
        if (u < 0 || u >= n) continue;
        const int l = label[u];
        count += 1ull << (8 * l);
    }
    for (int l = 0; l < 7; ++l) {
        const int votes = (int)((count >> (8 * l)) & 0xff);
        if (votes > most) {
            most = votes;
            best = l;
        }
    }
    next[i] = best;
    if (best != label[i]) atomicAdd(changed, 1);
}
