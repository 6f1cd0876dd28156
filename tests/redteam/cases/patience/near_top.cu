// Deals every row of cards into piles, as in patience sorting: a card goes on the leftmost pile whose top is
// not smaller, or starts a new pile on the right. Cards are 0..63.
__global__ void patience(const int* cards, int* piles, int* tops, int* deepest, int rows, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const int* mine = cards + (long long)row * n;
    unsigned long long mask = 0;      // bit c: a pile shows card c
    int size[64];
    for (int p = 0; p < 64; ++p) size[p] = 0;
    for (int i = 0; i < n; ++i) {
        int card = mine[i] & 63;
        unsigned long long bit = 1ull << card;
        ++size[__popcll(mask & (bit - 1))];
        int step = __ffs((int)(mask >> card));
        if (step) mask ^= bit << (step - 1);
        mask |= bit;
    }
    int count = __popcll(mask), sum = 0, most = 0;
    for (int p = 0; p < count; ++p) most = max(most, size[p]);
    while (mask) {
        sum += __ffsll((long long)mask) - 1;
        mask &= mask - 1;
    }
    piles[row] = count;
    tops[row] = sum;
    deepest[row] = most;
}
