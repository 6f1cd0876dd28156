// Shops keep a ledger of goods in (+) and goods out (-).  For every ledger of m entries:
// the level at the end, the lowest level after any entry, and the first entry after which it was reached.
// One warp per ledger, four entries per lane and trip.  No entry takes more than 50, so a stretch that
// starts more than a warp's worth of withdrawals above the lowest level is only summed.
#include <climits>
#define FULL 0xffffffffu
#define DRAIN (32 * 50)

extern "C" __global__ void pantry(const int* __restrict__ move, int* __restrict__ closing,
                                  int* __restrict__ lowest, int* __restrict__ when, int n, int m)
{
    const int lane = threadIdx.x & 31;
    const int row = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
    if (row >= n) return;
    const int* p = move + (size_t)row * m;
    const bool whole = (m & 3) == 0;

    int level = 0, low = INT_MAX, at = INT_MAX;     // the same in all lanes
    for (int b = 0; b < m; b += 128) {
        const int k = b + lane * 4;
        int v0 = 0, v1 = 0, v2 = 0, v3 = 0;
        if (whole) {
            if (k < m) { int4 q = __ldg((const int4*)(p + k)); v0 = q.x; v1 = q.y; v2 = q.z; v3 = q.w; }
        } else {
            if (k < m) v0 = __ldg(p + k);
            if (k + 1 < m) v1 = __ldg(p + k + 1);
            if (k + 2 < m) v2 = __ldg(p + k + 2);
            if (k + 3 < m) v3 = __ldg(p + k + 3);
        }
        v1 += v0; v2 += v1; v3 += v2;
        if (level - DRAIN >= low) {
            level += __reduce_add_sync(FULL, v3);
            continue;
        }
        int upto = v3;
#pragma unroll
        for (int o = 1; o < 32; o <<= 1) {
            int t = __shfl_up_sync(FULL, upto, o);
            if (lane >= o) upto += t;
        }
        int q = v0, j = 0;
        if (v1 < q) { q = v1; j = 1; }
        if (v2 < q) { q = v2; j = 2; }
        if (v3 < q) { q = v3; j = 3; }
        q = k < m ? q + level + upto - v3 : INT_MAX;
        const int dip = __reduce_min_sync(FULL, q);
        if (dip < low) {
            const int first = __ffs(__ballot_sync(FULL, q == dip)) - 1;
            low = dip;
            at = __shfl_sync(FULL, k + j, first);
        }
        level += __shfl_sync(FULL, upto, 31);
    }
    if (lane == 0) { closing[row] = level; lowest[row] = low; when[row] = at; }
}
