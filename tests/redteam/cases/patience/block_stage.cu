// Deals every row of cards into piles, as in patience sorting: a card goes on the leftmost pile whose top is
// not smaller, or starts a new pile on the right. Cards are 0..63.
__global__ void patience(const int* cards, int* piles, int* tops, int* deepest, int rows, int n)
{
    __shared__ unsigned char tile[128][36];
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    int first = blockIdx.x * blockDim.x;
    int top[64];
    int size[64];
    int count = 0;
    for (int from = 0; from < n; from += 32) {
        int here = min(32, n - from);
        for (int k = threadIdx.x; k < 128 * 32; k += blockDim.x) {
            int r = k >> 5, c = k & 31;
            if (first + r < rows && c < here)
                tile[r][c] = (unsigned char)(cards[(long long)(first + r) * n + from + c] & 63);
        }
        __syncthreads();
        for (int i = 0; i < here && row < rows; ++i) {
            int card = tile[threadIdx.x][i];
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
    }
    int sum = 0, most = 0;
    for (int p = 0; p < count; ++p) {
        sum += top[p];
        most = size[p] > most ? size[p] : most;
    }
    if (row >= rows) return;
    piles[row] = count;
    tops[row] = sum;
    deepest[row] = most;
}
