// A round of Bellman and Ford: each edge may shorten the way to where it ends; tells whether any way got shorter. Edges
// of other parts of the graph are passed over.
__global__ void bellman(const int* from, const int* to, const int* cost, const int* dist, int* best, int* changed,
                        int m, int n) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= m) return;
    unsigned u = from[e], v = to[e];
    if (u >= n || v >= n) return;
    int d = dist[u] + cost[e];
    if (atomicMin(&best[v], d) > d) *changed = 1;
}
