// Shops keep a ledger of goods in (+) and goods out (-).  For every ledger of m entries:
// the level at the end, the lowest level after any entry, and the first entry after which it was reached.
// One warp per ledger, four entries per lane and trip; level and entry travel as one 64-bit key.
#include <climits>
#define FULL 0xffffffffu

__device__ __forceinline__ long long key(int level, int entry)
{
    return (long long)(((unsigned long long)(unsigned)level << 32) | (unsigned)entry);
}

extern "C" __global__ void pantry(const int* __restrict__ move, int* __restrict__ closing,
                                  int* __restrict__ lowest, int* __restrict__ when, int n, int m)
{
    const int lane = threadIdx.x & 31;
    const int row = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
    if (row >= n) return;
    const int* p = move + (size_t)row * m;
    const bool whole = (m & 3) == 0;

    int level = 0;
    long long best = LLONG_MAX;
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
        int upto = v3;
#pragma unroll
        for (int o = 1; o < 32; o <<= 1) {
            int t = __shfl_up_sync(FULL, upto, o);
            if (lane >= o) upto += t;
        }
        if (k < m) {
            const int before = level + upto - v3;
            best = min(best, min(min(key(before + v0, k), key(before + v1, k + 1)),
                                 min(key(before + v2, k + 2), key(before + v3, k + 3))));
        }
        level += __shfl_sync(FULL, upto, 31);
    }
#pragma unroll
    for (int o = 16; o; o >>= 1) best = min(best, __shfl_xor_sync(FULL, best, o));
    if (lane == 0) { closing[row] = level; lowest[row] = (int)(best >> 32); when[row] = (int)(unsigned)best; }
}
