// Verification of speculative decoding with a draft tree of 64 nodes per request: the deepest accepted node
// (the first of equal depth), its path's tokens, the model's pick after it, then -1.
// A warp per request, two nodes per lane. Pointer doubling, until every pointer has come to the root.

#define NODES 64

extern "C" __global__ void treespec(const int* parent, const int* draft, const int* target,
                                    int* best, int* length, int* path, int n)
{
    __shared__ unsigned char first[8][NODES], up[8][NODES], dist[8][NODES], ok[8][NODES];
    int me = threadIdx.x >> 5, lane = threadIdx.x & 31;
    int r = blockIdx.x * 8 + me;
    if (r >= n) return;
    size_t at = (size_t)r * NODES;
    for (int i = lane; i < NODES; i += 32) {
        int p = i == 0 ? 0 : parent[at + i] % i;
        first[me][i] = up[me][i] = (unsigned char)p;
        dist[me][i] = i != 0;
        ok[me][i] = i == 0 || draft[at + i] == target[at + p];
    }
    __syncwarp();
    while (__any_sync(0xffffffffu, (up[me][lane] | up[me][lane + 32]) != 0)) {
        unsigned char u[2], d[2], o[2];
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            int i = lane + 32 * h, p = up[me][i];
            u[h] = up[me][p];
            d[h] = (unsigned char)(dist[me][i] + dist[me][p]);
            o[h] = ok[me][i] & ok[me][p];
        }
        __syncwarp();
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            int i = lane + 32 * h;
            up[me][i] = u[h];
            dist[me][i] = d[h];
            ok[me][i] = o[h];
        }
        __syncwarp();
    }
    unsigned mine[2];
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        int i = lane + 32 * h;
        mine[h] = ok[me][i] ? (unsigned)dist[me][i] << 6 | (63 - i) : 0u;
    }
    unsigned top = __reduce_max_sync(0xffffffffu, max(mine[0], mine[1]));
    int b = 63 - (int)(top & 63), len = (int)(top >> 6);
    for (int k = len + 1 + lane; k < NODES; k += 32) path[at + k] = -1;
    if (lane == 0) {
        best[r] = b;
        length[r] = len + 1;
        path[at + len] = target[at + b];
        for (int v = b, k = len - 1; v != 0; v = first[me][v], --k) path[at + k] = draft[at + v];
    }
}
