// Verification of speculative decoding with a draft tree of 64 nodes per request: the deepest accepted node
// (the first of equal depth), its path's tokens, the model's pick after it, then -1.
// A thread per request. Tokens are 0, 1 or 2, so that two 64-bit planes hold the model's picks, and acceptance is looked up
// in registers. A subtree that was refused never needs its depth, so depths are kept for accepted nodes only.

#define NODES 64

extern "C" __global__ void treespec(const int* parent, const int* draft, const int* target,
                                    int* best, int* length, int* path, int n)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= n) return;
    size_t at = (size_t)r * NODES;
    const int4* t4 = (const int4*)(target + at);
    const int4* d4 = (const int4*)(draft + at);
    const int4* p4 = (const int4*)(parent + at);
    unsigned long long pick0 = 0, pick1 = 0;
#pragma unroll
    for (int q = 0; q < NODES / 4; ++q) {
        int4 t = t4[q];
        pick0 |= (unsigned long long)((t.x & 1) | (t.y & 1) << 1 | (t.z & 1) << 2 | (t.w & 1) << 3) << (4 * q);
        pick1 |= (unsigned long long)((t.x >> 1) | (t.y >> 1) << 1 | (t.z >> 1) << 2 | (t.w >> 1) << 3) << (4 * q);
    }
    unsigned char up[NODES], depth[NODES];
    unsigned long long ok = 1;
    depth[0] = 0;
    int b = 0, len = 0;
#pragma unroll
    for (int q = 0; q < NODES / 4; ++q) {
        int4 d = d4[q], f = p4[q];
        int token[4] = { d.x, d.y, d.z, d.w }, from[4] = { f.x, f.y, f.z, f.w };
#pragma unroll
        for (int h = 0; h < 4; ++h) {
            int i = 4 * q + h;
            if (i == 0) continue;
            int p = from[h] % i;
            int want = (int)(pick0 >> p & 1) | (int)(pick1 >> p & 1) << 1;
            if ((ok >> p & 1) && token[h] == want) {
                ok |= 1ull << i;
                up[i] = (unsigned char)p;
                int deep = depth[p] + 1;
                depth[i] = (unsigned char)deep;
                if (deep > len) { len = deep; b = i; }
            }
        }
    }
    best[r] = b;
    length[r] = len + 1;
    for (int k = len + 1; k < NODES; ++k) path[at + k] = -1;
    path[at + len] = target[at + b];
    for (int v = b, k = len - 1; k >= 0; v = up[v], --k) path[at + k] = draft[at + v];
}
