// Shops keep a ledger of goods in (+) and goods out (-).  For every ledger of m entries:
// the level at the end, the lowest level after any entry, and the first entry after which it was reached.
// One block of eight warps per ledger, 1024 entries per trip.
#include <climits>
#define FULL 0xffffffffu

extern "C" __global__ void __launch_bounds__(256) pantry(const int* __restrict__ move, int* __restrict__ closing,
                                  int* __restrict__ lowest, int* __restrict__ when, int n, int m)
{
    __shared__ int part[8], lows[8], ats[8];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const int row = blockIdx.x;
    const int* p = move + (size_t)row * m;
    const bool whole = (m & 3) == 0;

    int level = 0, low = INT_MAX, at = INT_MAX;
    for (int b = 0; b < m; b += 1024) {
        const int k = b + threadIdx.x * 4;
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
        if (lane == 31) part[warp] = upto;
        __syncthreads();
        int before = level + upto - v3;
#pragma unroll
        for (int w = 0; w < 8; w++) {
            const int t = part[w];
            if (w < warp) before += t;
            level += t;
        }
        int q = v0, j = 0;
        if (v1 < q) { q = v1; j = 1; }
        if (v2 < q) { q = v2; j = 2; }
        if (v3 < q) { q = v3; j = 3; }
        q += before;
        if (k < m && q < low) { low = q; at = k + j; }
    }
#pragma unroll
    for (int o = 16; o; o >>= 1) {
        int l = __shfl_xor_sync(FULL, low, o), a = __shfl_xor_sync(FULL, at, o);
        if (l < low || (l == low && a < at)) { low = l; at = a; }
    }
    if (lane == 0) { lows[warp] = low; ats[warp] = at; }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < 8; w++)
            if (lows[w] < low || (lows[w] == low && ats[w] < at)) { low = lows[w]; at = ats[w]; }
        closing[row] = level; lowest[row] = low; when[row] = at;
    }
}
