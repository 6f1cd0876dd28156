// Deals every row of cards into piles, as in patience sorting: a card goes on the leftmost pile whose top is
// not smaller, or starts a new pile on the right. Cards are 0..63.
__global__ void patience(const int* cards, int* piles, int* tops, int* deepest, int rows, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const int* mine = cards + (long long)row * n;
    unsigned short pile[64];      // the top above, the number of cards below
    int count = 0;
    for (int i = 0; i < n; ++i) {
        int card = mine[i] & 63;
        int low = 0, high = count;
        while (low < high) {
            int mid = (low + high) >> 1;
            if ((pile[mid] >> 10) < card) low = mid + 1; else high = mid;
        }
        int held = low == count ? 0 : pile[low] & 1023;
        count = max(count, low + 1);
        pile[low] = (unsigned short)((card << 10) + held + 1);
    }
    int sum = 0, most = 0;
    for (int p = 0; p < count; ++p) {
        sum += pile[p] >> 10;
        most = max(most, pile[p] & 1023);
    }
    piles[row] = count;
    tops[row] = sum;
    deepest[row] = most;
}
