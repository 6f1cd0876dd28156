// An edge may shorten the way to where it ends. Edges of other parts of the graph are passed over.
__device__ void tried(unsigned u, unsigned v, int c, const int* dist, int* best, int* changed, int n) {
    if (u >= n || v >= n) return;
    int d = dist[u] + c;
    if (*(volatile int*)&best[v] > d && atomicMin(&best[v], d) > d) *changed = 1;
}

// A round of Bellman and Ford: each edge is tried; tells whether any way got shorter. A thread has an edge of each
// quarter, and the first thread the odd one at the end.
__global__ void bellman(const int* from, const int* to, const int* cost, const int* dist, int* best, int* changed,
                        int m, int n) {
    int quarter = m / 4, e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e == 0 && m % 4) tried(from[m - 1], to[m - 1], cost[m - 1], dist, best, changed, n);
    if (e >= quarter) return;
    for (int k = 0; k < 4; ++k, e += quarter) tried(from[e], to[e], cost[e], dist, best, changed, n);
}
