// Deals every row of cards into piles, as in patience sorting: a card goes on the leftmost pile whose top is
// not smaller, or starts a new pile on the right. Cards are 0..63.
__global__ void patience(const int* cards, int* piles, int* tops, int* deepest, int rows, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const int* mine = cards + (long long)row * n;
    int top[64];
    int size[64];
    int count = 0;
    for (int i = 0; i < n; ++i) {
        int card = mine[i] & 63;
        int low = 0, high = count;
        while (low < high) {
            int mid = (low + high) >> 1;
            if (top[mid] < card) low = mid + 1; else high = mid;
        }
        if (low == count) {
            size[low] = 0;
            ++count;
        }
        top[low] = card;
        ++size[low];
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
