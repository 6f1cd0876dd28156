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

constexpr int COPIES = 16, ROOM = 4096;
__device__ unsigned long long own_inside[COPIES * ROOM], own_degree[COPIES * ROOM];
__device__ unsigned finished;

extern "C" __global__ void modular(const int* source, const int* target, const int* weight, const int* community,
                                   unsigned long long* inside, unsigned long long* degree, int edges, int vertices,
                                   int communities)
{
    // Sixteen copies of the sums keep the blocks apart; the last block adds them up and clears them for the next call.
    __shared__ bool last;
    const size_t copy = (size_t)(blockIdx.x % COPIES) * ROOM;
    for (long long e = (long long)blockIdx.x * blockDim.x + threadIdx.x; e < edges; e += (long long)gridDim.x * blockDim.x) {
        const int u = source[e], v = target[e];
        const long long w = weight[e];
        int a, b;
        if (!ends(community, u, v, vertices, communities, a, b)) {
            continue;
        }
        add(own_degree + copy + a, w);
        add(own_degree + copy + b, w);
        if (a == b) {
            add(own_inside + copy + a, u == v ? w : 2 * w);
        }
    }
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) {
        return;
    }
    __threadfence();
    for (int c = threadIdx.x; c < communities; c += blockDim.x) {
        for (int k = 0; k < COPIES; k++) {
            inside[c] += __ldcg(own_inside + (size_t)k * ROOM + c);
            degree[c] += __ldcg(own_degree + (size_t)k * ROOM + c);
        }
    }
    __syncthreads();
    for (int c = threadIdx.x; c < communities; c += blockDim.x) {
        for (int k = 0; k < COPIES; k++) {
            own_inside[(size_t)k * ROOM + c] = own_degree[(size_t)k * ROOM + c] = 0;
        }
    }
}
