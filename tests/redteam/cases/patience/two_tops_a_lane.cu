// Deals every row of cards into piles, as in patience sorting: a card goes on the leftmost pile whose top is
// not smaller, or starts a new pile on the right. Cards are 0..63. A warp deals a row.
__global__ void patience(const int* cards, int* piles, int* tops, int* deepest, int rows, int n)
{
    int row = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
    int lane = threadIdx.x & 31;
    if (row >= rows) return;
    const int* mine = cards + (long long)row * n;
    int top0 = 64, top1 = 64, size0 = 0, size1 = 0;      // of piles lane and lane + 32
    for (int from = 0; from < n; from += 32) {
        int held = from + lane < n ? mine[from + lane] & 63 : 0;
        int here = min(32, n - from);
        for (int i = 0; i < here; ++i) {
            int card = __shfl_sync(0xffffffffu, held, i);
            int pile = __popc(__ballot_sync(0xffffffffu, top0 < card))
                     + __popc(__ballot_sync(0xffffffffu, top1 < card));
            if (pile == lane) { top0 = card; ++size0; }
            if (pile == lane + 32) { top1 = card; ++size1; }
        }
    }
    int count = __popc(__ballot_sync(0xffffffffu, size0 > 0)) + __popc(__ballot_sync(0xffffffffu, size1 > 0));
    int sum = __reduce_add_sync(0xffffffffu, (size0 ? top0 : 0) + (size1 ? top1 : 0));
    int most = __reduce_max_sync(0xffffffffu, max(size0, size1));
    if (lane == 0) {
        piles[row] = count;
        tops[row] = sum;
        deepest[row] = most;
    }
}
