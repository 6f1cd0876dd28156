// One round of label propagation on a graph with a fixed number of neighbour slots a node (slots outside 0..n-1 are
// empty): every node takes the label most common among its neighbours, the smallest of several equally common ones;
// a node without neighbours keeps its own. The number of nodes whose label changed is added to changed[0].

extern "C" __global__ void labelvote(const int* slot, const int* label, int* next, int* changed, int n, int deg)
{
    __shared__ int total;
    if (threadIdx.x == 0) total = 0;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    int moved = 0;
    if (i < n) {
    const int* mine = slot + (size_t)i * deg;
    int best = label[i], most = 0;
    for (int a = 0; a < deg; ++a) {
        const int u = mine[a];
        if (u < 0 || u >= n) continue;
        const int candidate = label[u];
        int votes = 0;
        for (int c = 0; c < deg; ++c) {
            const int v = mine[c];
            if (v >= 0 && v < n) votes += label[v] == candidate;
        }
        if (votes > most || (votes == most && candidate < best)) {
            most = votes;
            best = candidate;
        }
    }
    next[i] = best;
    moved = best != label[i];
    }
    // one shared atomic for each node that moved, one global atomic for the block
    if (moved) atomicAdd(&total, 1);
    __syncthreads();
    if (threadIdx.x == 0 && total) atomicAdd(changed, total);
}
