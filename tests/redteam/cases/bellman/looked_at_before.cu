// A round of Bellman and Ford: each edge may shorten the way to where it ends; tells whether any way got shorter. Edges
// of other parts of the graph are passed over. Ways only get shorter: what would not shorten one as it was a moment ago
// need not be tried.
__global__ void bellman(const int* from, const int* to, const int* cost, const int* dist, int* best, int* changed,
                        int m, int n) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= m) return;
    unsigned u = from[e], v = to[e];
    if (u >= n || v >= n) return;
    int d = dist[u] + cost[e];
    if (*(volatile int*)&best[v] > d && atomicMin(&best[v], d) > d) *changed = 1;
}
