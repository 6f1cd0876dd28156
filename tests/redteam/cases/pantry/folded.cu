// Shops keep a ledger of goods in (+) and goods out (-).  For every ledger of m entries:
// the level at the end, the lowest level after any entry, and the first entry after which it was reached.
// One warp per ledger.  A stretch is (sum, lowest, entry); neighbouring stretches are folded lane by lane
// instead of being scanned, five shuffles for each of the three.
#define FULL 0xffffffffu
#define NEVER (1 << 29)

extern "C" __global__ void pantry(const int* __restrict__ move, int* __restrict__ closing,
                                  int* __restrict__ lowest, int* __restrict__ when, int n, int m)
{
    const int lane = threadIdx.x & 31;
    const int row = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
    if (row >= n) return;
    const int* p = move + (size_t)row * m;
    const bool whole = (m & 3) == 0;

    int level = 0, low = NEVER, at = 0;
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
        int sum = v3, dip = k < m ? v0 : NEVER, j = k;
        if (k < m) {
            if (v1 < dip) { dip = v1; j = k + 1; }
            if (v2 < dip) { dip = v2; j = k + 2; }
            if (v3 < dip) { dip = v3; j = k + 3; }
        }
#pragma unroll
        for (int o = 1; o < 32; o <<= 1) {
            const int s = __shfl_xor_sync(FULL, sum, o);
            const int d = __shfl_xor_sync(FULL, dip, o);
            const int a = __shfl_xor_sync(FULL, j, o);
            if (sum + d < dip) { dip = sum + d; j = a; }
            sum += s;
        }
        if (level + dip < low) { low = level + dip; at = j; }
        level += sum;
    }
    if (lane == 0) { closing[row] = level; lowest[row] = low; when[row] = at; }
}
