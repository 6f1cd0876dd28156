// Shops keep a ledger of goods in (+) and goods out (-).  For every ledger of m entries:
// the level at the end, the lowest level after any entry, and the first entry after which it was reached.
// One warp per ledger.  Two stretches of 128 entries per trip: their running sums ride through one
// shuffle scan as the two 16-bit halves of a word.
#include <climits>
#define FULL 0xffffffffu

__device__ __forceinline__ int4 take(const int* __restrict__ p, int k, int m, bool whole)
{
    int4 v = make_int4(0, 0, 0, 0);
    if (whole) {
        if (k < m) v = __ldg((const int4*)(p + k));
    } else {
        if (k < m) v.x = __ldg(p + k);
        if (k + 1 < m) v.y = __ldg(p + k + 1);
        if (k + 2 < m) v.z = __ldg(p + k + 2);
        if (k + 3 < m) v.w = __ldg(p + k + 3);
    }
    v.y += v.x; v.z += v.y; v.w += v.z;
    return v;
}

__device__ __forceinline__ void weigh(int4 v, int before, int k, int m, int& low, int& at)
{
    int q = v.x, j = 0;
    if (v.y < q) { q = v.y; j = 1; }
    if (v.z < q) { q = v.z; j = 2; }
    if (v.w < q) { q = v.w; j = 3; }
    q += before;
    if (k < m && q < low) { low = q; at = k + j; }
}

extern "C" __global__ void pantry(const int* __restrict__ move, int* __restrict__ closing,
                                  int* __restrict__ lowest, int* __restrict__ when, int n, int m)
{
    const int lane = threadIdx.x & 31;
    const int row = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
    if (row >= n) return;
    const int* p = move + (size_t)row * m;
    const bool whole = (m & 3) == 0;

    int level = 0, low = INT_MAX, at = INT_MAX;
    for (int b = 0; b < m; b += 256) {
        const int k = b + lane * 4;
        const int4 u = take(p, k, m, whole), v = take(p, k + 128, m, whole);
        unsigned both = __byte_perm((unsigned)u.w, (unsigned)v.w, 0x5410);
#pragma unroll
        for (int o = 1; o < 32; o <<= 1) {
            unsigned t = __shfl_up_sync(FULL, both, o);
            if (lane >= o) both = __vadd2(both, t);
        }
        const int first = (int)(short)(both & 0xffffu), second = (int)both >> 16;
        weigh(u, level + first - u.w, k, m, low, at);
        const unsigned all = __shfl_sync(FULL, both, 31);
        level += (int)(short)(all & 0xffffu);
        weigh(v, level + second - v.w, k + 128, m, low, at);
        level += (int)all >> 16;
    }
#pragma unroll
    for (int o = 16; o; o >>= 1) {
        int l = __shfl_xor_sync(FULL, low, o), a = __shfl_xor_sync(FULL, at, o);
        if (l < low || (l == low && a < at)) { low = l; at = a; }
    }
    if (lane == 0) { closing[row] = level; lowest[row] = low; when[row] = at; }
}
