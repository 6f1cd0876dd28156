// Verification of speculative decoding with a draft tree of 64 nodes per request: the deepest accepted node
// (the first of equal depth), its path's tokens, the model's pick after it, then -1.
// A node per thread, two warps per request. Pointer doubling: after k rounds a node knows of its 2^k nearest edges.

#define NODES 64

extern "C" __global__ void treespec(const int* parent, const int* draft, const int* target,
                                    int* best, int* length, int* path, int n)
{
    __shared__ unsigned char first[NODES], up[NODES], dist[NODES], ok[NODES];
    __shared__ unsigned top[2];
    int r = blockIdx.x, i = threadIdx.x;
    if (r >= n) return;
    size_t at = (size_t)r * NODES;
    int p = i == 0 ? 0 : parent[at + i] % i;
    first[i] = up[i] = (unsigned char)p;
    dist[i] = i != 0;
    ok[i] = i == 0 || draft[at + i] == target[at + p];
    __syncthreads();
    for (int reach = 1; reach < NODES; reach *= 2) {
        p = up[i];
        unsigned char u = up[p], d = (unsigned char)(dist[i] + dist[p]), o = ok[i] & ok[p];
        __syncwarp();
        up[i] = u;
        dist[i] = d;
        ok[i] = o;
        __syncwarp();
    }
    unsigned mine = __reduce_max_sync(0xffffffffu, ok[i] ? (unsigned)dist[i] << 6 | (63 - i) : 0u);
    if ((i & 31) == 0) top[i >> 5] = mine;
    __syncthreads();
    unsigned won = max(top[0], top[1]);
    int b = 63 - (int)(won & 63), len = (int)(won >> 6);
    if (i > len) path[at + i] = -1;
    if (i == 0) {
        best[r] = b;
        length[r] = len + 1;
        path[at + len] = target[at + b];
        for (int v = b, k = len - 1; v != 0; v = first[v], --k) path[at + k] = draft[at + v];
    }
}
