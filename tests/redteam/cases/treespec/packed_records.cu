// Verification of speculative decoding with a draft tree of 64 nodes per request: the deepest accepted node
// (the first of equal depth), its path's tokens, the model's pick after it, then -1.
// A warp per request, two nodes per lane. Pointer doubling on one 16-bit record per node: pointer (6 bits), edges jumped
// (5 bits), and a bit that says that an edge among them was refused. Records of two stretches simply add up.

#define NODES 64

extern "C" __global__ void treespec(const int* parent, const int* draft, const int* target,
                                    int* best, int* length, int* path, int n)
{
    __shared__ unsigned char first[8][NODES];
    __shared__ unsigned short rec[8][NODES];
    int me = threadIdx.x >> 5, lane = threadIdx.x & 31;
    int r = blockIdx.x * 8 + me;
    if (r >= n) return;
    size_t at = (size_t)r * NODES;
    for (int i = lane; i < NODES; i += 32) {
        int p = i == 0 ? 0 : parent[at + i] % i;
        bool edge = i == 0 || draft[at + i] == target[at + p];
        first[me][i] = (unsigned char)p;
        rec[me][i] = (unsigned short)(p | (i != 0) << 6 | (edge ? 0 : 1 << 11));
    }
    __syncwarp();
    for (int reach = 1; reach < NODES; reach *= 2) {
        unsigned next[2];
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            unsigned a = rec[me][lane + 32 * h], c = rec[me][a & 63];
            unsigned edges = ((a >> 6 & 31) + (c >> 6 & 31)) << 6;
            next[h] = (c & 63) | ((edges | a | c) & (1u << 11)) | (edges & (31u << 6));
        }
        __syncwarp();
#pragma unroll
        for (int h = 0; h < 2; ++h) rec[me][lane + 32 * h] = (unsigned short)next[h];
        __syncwarp();
    }
    unsigned mine[2];
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        int i = lane + 32 * h;
        unsigned a = rec[me][i];
        mine[h] = (a >> 11 & 1) ? 0u : (a >> 6 & 31) << 6 | (63 - i);
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
