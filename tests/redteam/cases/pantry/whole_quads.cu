// Shops keep a ledger of goods in (+) and goods out (-).  For every ledger of m entries:
// the level at the end, the lowest level after any entry, and the first entry after which it was reached.
// One warp per ledger, four entries per lane and trip, vector loads for
// odd lengths too where the number of ledgers makes up for it.
#include <climits>
#define FULL 0xffffffffu

extern "C" __global__ void pantry(const int* __restrict__ move, int* __restrict__ closing,
                                  int* __restrict__ lowest, int* __restrict__ when, int n, int m)
{
    const int lane = threadIdx.x & 31;
    const int row = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
    if (row >= n) return;
    const int* p = move + (size_t)row * m;
    const bool whole = (((size_t)n * m) & 3) == 0;      // the ledgers are whole quads

    int level = 0, low = INT_MAX, at = INT_MAX;
    for (int b = 0; b < m; b += 128) {
        const int k = b + lane * 4;
        int v0 = 0, v1 = 0, v2 = 0, v3 = 0;
        if (whole) {
            if (k < m) {
                int4 q = __ldg((const int4*)(p + k));
                v0 = q.x;
                v1 = k + 1 < m ? q.y : 0; v2 = k + 2 < m ? q.z : 0; v3 = k + 3 < m ? q.w : 0;
            }
        } else {
            if (k < m) v0 = __ldg(p + k);
            if (k + 1 < m) v1 = __ldg(p + k + 1);
            if (k + 2 < m) v2 = __ldg(p + k + 2);
            if (k + 3 < m) v3 = __ldg(p + k + 3);
        }
        v1 += v0; v2 += v1; v3 += v2;
        int upto = v3;
#pragma unroll
        for (int o = 1; o < 32; o <<= 1) {
            int t = __shfl_up_sync(FULL, upto, o);
            if (lane >= o) upto += t;
        }
        const int before = level + upto - v3;
        int q = v0, j = 0;
        if (v1 < q) { q = v1; j = 1; }
        if (v2 < q) { q = v2; j = 2; }
        if (v3 < q) { q = v3; j = 3; }
        q += before;
        if (k < m && q < low) { low = q; at = k + j; }
        level += __shfl_sync(FULL, upto, 31);
    }
#pragma unroll
    for (int o = 16; o; o >>= 1) {
        int l = __shfl_xor_sync(FULL, low, o), a = __shfl_xor_sync(FULL, at, o);
        if (l < low || (l == low && a < at)) { low = l; at = a; }
    }
    if (lane == 0) { closing[row] = level; lowest[row] = low; when[row] = at; }
}
