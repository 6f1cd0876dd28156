// The sums that the modularity of a partition needs: for each community the weight of its edges (an edge between two of its
// vertices counts twice, a self loop once) and the weighted degree of its vertices. Edges with an end out of range are left out.

__device__ __forceinline__ void add(unsigned long long* to, long long w)
{
    atomicAdd(to, (unsigned long long)w);
}

// The communities of an edge's ends; false where it does not count.
__device__ __forceinline__ bool ends(const int* community, int u, int v, int vertices, int communities, int& a, int& b)
{
    if (u < 0 || u >= vertices || v < 0 || v >= vertices) {
        return false;
    }
    a = community[u];
    b = community[v];
    return a >= 0 && a < communities && b >= 0 && b < communities;
}

// The lanes of a warp that add to the same place do so with one atomic; all lanes take part, those with a place below 0 idly.
__device__ __forceinline__ void add_together(unsigned long long* to, int place, long long w)
{
    const unsigned peers = __match_any_sync(0xffffffffu, place);
    long long sum = 0;
    for (int k = 0; k < 32; k++) {
        const long long other = __shfl_sync(0xffffffffu, w, k);
        sum += peers >> k & 1 ? other : 0;
    }
    if (place >= 0 && (threadIdx.x & 31) == __ffs(peers) - 1) {
        add(to + place, sum);
    }
}

extern "C" __global__ void modular(const int* source, const int* target, const int* weight, const int* community,
                                   unsigned long long* inside, unsigned long long* degree, int edges, int vertices,
                                   int communities)
{
    const long long e = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    int u = -1, v = -1, a = -1, b = -1;
    long long w = 0;
    if (e < edges) {
        u = source[e];
        v = target[e];
        w = weight[e];
    }
    const bool valid = ends(community, u, v, vertices, communities, a, b);
    add_together(degree, valid ? a : -1, w);
    add_together(degree, valid ? b : -1, w);
    add_together(inside, valid && a == b ? a : -1, u == v ? w : 2 * w);
}
