// Refits the boxes of many small trees after their leaves moved. A tree with m leaves is a heap: nodes 0..m-2 have
// the children 2p+1 and 2p+2, nodes m-1..2m-2 are the leaves. A box is lo.xyz, hi.xyz; NaN coordinates are passed
// over by fminf and fmaxf. The cost of a tree is the sum of half the surfaces of its inner boxes. One block per tree.

__device__ __forceinline__ float half_surface(const float* b)
{
    const float x = fmaxf(b[3] - b[0], 0.0f), y = fmaxf(b[4] - b[1], 0.0f), z = fmaxf(b[5] - b[2], 0.0f);
    return x * y + y * z + z * x;
}

__device__ __forceinline__ float unite(float* tree, int p)
{
    const float* a = tree + 6 * (2 * p + 1);
    const float* c = tree + 6 * (2 * p + 2);
    float* b = tree + 6 * p;
    for (int e = 0; e < 3; ++e) {
        b[e] = fminf(a[e], c[e]);
        b[3 + e] = fmaxf(a[3 + e], c[3 + e]);
    }
    return half_surface(b);
}

__device__ __forceinline__ float block_total(float v)
{
    __shared__ float part[4];
    for (int step = 16; step > 0; step >>= 1) v += __shfl_xor_sync(0xffffffffu, v, step);
    if ((threadIdx.x & 31) == 0) part[threadIdx.x >> 5] = v;
    __syncthreads();
    return part[0] + part[1] + part[2] + part[3];
}

extern "C" __global__ void treerefit(const float* leaf, float* box, float* cost, int trees, int leaves)
{
    const int t = blockIdx.x;
    if (t >= trees) return;
    const float* mine = leaf + (size_t)t * leaves * 6;
    float* tree = box + (size_t)t * (2 * leaves - 1) * 6;
    for (int j = threadIdx.x; j < 6 * leaves; j += 128) tree[6 * (leaves - 1) + j] = mine[j];
    float sum = 0.0f;
    const int inner = leaves - 1;
    int depth = 0;
    while ((2 << depth) - 1 < inner) ++depth;
    for (int d = depth; d >= 0; --d) {
        __syncthreads();
        const int lo = (1 << d) - 1, hi = min((2 << d) - 1, inner);
        for (int p = lo + threadIdx.x; p < hi; p += 128) sum += unite(tree, p);
    }
    sum = block_total(sum);
    if (threadIdx.x == 0) cost[t] = sum;
}
