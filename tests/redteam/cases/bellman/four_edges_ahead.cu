// A round of Bellman and Ford: each edge may shorten the way to where it ends; tells whether any way got shorter. Edges
// of other parts of the graph are passed over. A thread has four edges of its block's 1024, all loaded before any is
// tried, and a block tells once.
__global__ void bellman(const int* from, const int* to, const int* cost, const int* dist, int* best, int* changed,
                        int m, int n) {
    size_t first = blockIdx.x * (size_t)1024 + threadIdx.x;
    unsigned v[4];
    int d[4];
    bool shorter = false;
    for (int k = 0; k < 4; ++k) {
        size_t e = first + 256 * k;
        unsigned u = e < m ? from[e] : n;
        v[k] = e < m ? to[e] : n;
        if (u >= n) v[k] = n;
        d[k] = v[k] < n ? dist[u] + cost[e] : 0;
    }
    for (int k = 0; k < 4; ++k)
        if (v[k] < n && atomicMin(&best[v[k]], d[k]) > d[k]) shorter = true;
    if (__syncthreads_or(shorter) && threadIdx.x == 0) *changed = 1;
}
