// All ends on one shaft weave alike. A block of 16 warps works out the 16 shafts, a warp
// for each, 32 picks to a vote, and then deals the results out to its 512 ends.
extern "C" __global__ void __launch_bounds__(512) heddle(const int* threading, const int* treadling,
                                                         const int* tieup, int* longest, int* begin,
                                                         int ends, int picks)
{
    __shared__ int length_of[16], begin_of[16];
    int shaft = threadIdx.x >> 5, lane = threadIdx.x & 31;
    int best = 0, at = 0, start = 0;
    unsigned last = 0;
    for (int p0 = 0; p0 < picks; p0 += 32) {
        int p = p0 + lane;
        int up = p < picks ? (tieup[treadling[p]] >> shaft) & 1 : 0;
        unsigned word = __ballot_sync(0xffffffffu, up);
        unsigned turn = word ^ ((word << 1) | last);
        last = word >> 31;
        if (p0 == 0)
            turn &= ~1u;
        if (picks - p0 < 32)
            turn &= (1u << (picks - p0)) - 1;
        while (turn) {
            int q = p0 + __ffs(turn) - 1;
            turn &= turn - 1;
            if (q - start > best) {
                best = q - start;
                at = start;
            }
            start = q;
        }
    }
    if (picks - start > best) {
        best = picks - start;
        at = start;
    }
    if (lane == 0) {
        length_of[shaft] = best;
        begin_of[shaft] = at;
    }
    __syncthreads();
    int e = blockIdx.x * 512 + threadIdx.x;
    if (e < ends) {
        int s = threading[e];
        longest[e] = length_of[s];
        begin[e] = begin_of[s];
    }
}
