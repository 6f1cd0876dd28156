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
    // Edges come in the order of their communities as a rule: a warp within one of them adds up first.
    const int first = __shfl_sync(0xffffffffu, a, 0);
    if (__all_sync(0xffffffffu, valid && a == first && b == first)) {
        long long both = w, own = u == v ? w : 2 * w;
        for (int s = 16; s > 0; s >>= 1) {
            both += __shfl_xor_sync(0xffffffffu, both, s);
            own += __shfl_xor_sync(0xffffffffu, own, s);
        }
        if ((threadIdx.x & 31) == 0) {
            degree[first] += (unsigned long long)(2 * both);
            inside[first] += (unsigned long long)own;
        }
    } else if (valid) {
        add(degree + a, w);
        add(degree + b, w);
        if (a == b) {
            add(inside + a, u == v ? w : 2 * w);
        }
    }
}
