#include <cuda_fp16.h>

// Pairwise wins of an election: on how many of the v ballots candidate i is ranked before candidate j.
// rank[c * v + b] is the place that ballot b gives to candidate c; equal places win for neither.
// Eight lanes per pair and four pairs per warp. Two ballots are compared per instruction, as halves, which
// hold places below 256 exactly; the comparison yields 1 or 0, and these are summed in halves for a while.
extern "C" __global__ void copeland(const unsigned char* rank, int* wins, int v, int m)
{
    int i = blockIdx.y;
    int j = blockIdx.x * 4 + (threadIdx.x >> 3);
    int lane = threadIdx.x & 7;
    bool there = j < m;
    const unsigned char* mine = rank + i * v;
    const unsigned char* theirs = rank + (there ? j : 0) * v;

    int count = 0;
    int b = 2 * lane;
    while (b + 1 < v) {
        __half2 sum = __floats2half2_rn(0.0f, 0.0f);
        for (int turn = 0; turn < 3072 && b + 1 < v; turn++, b += 16) {
            __half2 p = __halves2half2(__ushort2half_rn(mine[b]), __ushort2half_rn(mine[b + 1]));
            __half2 q = __halves2half2(__ushort2half_rn(theirs[b]), __ushort2half_rn(theirs[b + 1]));
            sum = __hadd2(sum, __hlt2(p, q));
        }
        count += (int)__low2float(sum) + (int)__high2float(sum);
    }
    if (b < v)                                       // the last ballot of an odd number
        count += mine[b] < theirs[b] ? 1 : 0;

    for (int step = 4; step > 0; step >>= 1)
        count += __shfl_down_sync(0xffffffffu, count, step, 8);
    if (there && lane == 0)
        wins[i * m + j] = count;
}
