// Deals every row of cards into piles, as in patience sorting: a card goes on the leftmost pile whose top is
// not smaller, or starts a new pile on the right. Cards are 0..63. Piles not begun show 63.
__global__ void patience(const int* cards, int* piles, int* tops, int* deepest, int rows, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const int* mine = cards + (long long)row * n;
    unsigned char top[64];
    int size[64];
    for (int p = 0; p < 64; ++p) {
        top[p] = 63;
        size[p] = 0;
    }
    int count = 0;
    for (int i = 0; i < n; ++i) {
        int card = mine[i] & 63;
        int pile = 0;
#pragma unroll
        for (int step = 32; step > 0; step >>= 1)
            pile += top[pile + step - 1] < card ? step : 0;
        count = max(count, pile + 1);
        top[pile] = (unsigned char)card;
        ++size[pile];
    }
    int sum = 0, most = 0;
    for (int p = 0; p < count; ++p) {
        sum += top[p];
        most = size[p] > most ? size[p] : most;
    }
    piles[row] = count;
    tops[row] = sum;
    deepest[row] = most;
}
