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
    __shared__ unsigned long long own_inside[1024], own_degree[1024];
    const bool small = communities <= 1024;
    if (small) {
        for (int c = threadIdx.x; c < communities; c += blockDim.x) {
            own_inside[c] = own_degree[c] = 0;
        }
    }
    __syncthreads();
    for (long long e = (long long)blockIdx.x * blockDim.x + threadIdx.x; e < edges; e += (long long)gridDim.x * blockDim.x) {
        const int u = source[e], v = target[e];
        const long long w = weight[e];
        int a, b;
        if (!ends(community, u, v, vertices, communities, a, b)) {
            continue;
        }
        if (small) {
            add(own_degree + a, w);
            add(own_degree + b, w);
            if (a == b) {
                add(own_inside + a, u == v ? w : 2 * w);
            }
        } else {
            add(degree + a, w);
            add(degree + b, w);
            if (a == b) {
                add(inside + a, u == v ? (long long)w : 2LL * w);
            }
        }
    }
    __syncthreads();
    if (small) {
        for (int c = threadIdx.x; c < communities; c += blockDim.x) {
            if (own_degree[c] != 0) {
                add(degree + c, own_degree[c]);
            }
            if (own_inside[c] != 0) {
                add(inside + c, own_inside[c]);
            }
        }
    }
}
