// Verification of speculative decoding with a draft tree of 64 nodes per request.
// Node 0 is the last committed token. Node i > 0 hangs below node parent[i] % i. A node is accepted if its parent is
// and its draft token is what the large model picked after the parent. The deepest accepted node wins (the
// first one of equal depth): its path's tokens are written, then the model's own pick after it, then -1.

#define NODES 64

extern "C" __global__ void treespec(const int* parent, const int* draft, const int* target,
                                    int* best, int* length, int* path, int n)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= n) return;
    size_t at = (size_t)r * NODES;
    unsigned char up[NODES], depth[NODES];
    unsigned long long ok = 1;
    int b = 0;
    up[0] = 0;
    depth[0] = 0;
    for (int i = 1; i < NODES; ++i) {
        int p = parent[at + i] % i;
        up[i] = (unsigned char)p;
        depth[i] = (unsigned char)(depth[p] + 1);
        if ((ok >> p & 1) && draft[at + i] == target[at + p]) {
            ok |= 1ull << i;
            if (depth[i] > depth[b]) b = i;
        }
    }
    int len = depth[b];
    best[r] = b;
    length[r] = len + 1;
    for (int k = len + 1; k < NODES; ++k) path[at + k] = -1;
    path[at + len] = target[at + b];
    for (int v = b, k = len - 1; v != 0; v = up[v], --k) path[at + k] = draft[at + v];
}
