// Deals every row of cards into piles, as in patience sorting: a card goes on the leftmost pile whose top is
// not smaller, or starts a new pile on the right. Cards are 0..63.
__global__ void patience(const int* cards, int* piles, int* tops, int* deepest, int rows, int n)
{
    __shared__ unsigned char stage[4][32][36];
    int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
    unsigned char (*tile)[36] = stage[warp];
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    int first = blockIdx.x * blockDim.x + warp * 32;
    int top[64];
    int size[64];
    int count = 0;
    for (int from = 0; from < n; from += 32) {
        int here = min(32, n - from);
        __syncwarp();
        for (int r = 0; r < 32; ++r)
            if (first + r < rows && lane < here)
                tile[r][lane] = (unsigned char)(cards[(long long)(first + r) * n + from + lane] & 63);
        __syncwarp();
        for (int i = 0; i < here && row < rows; ++i) {
            int card = tile[lane][i];
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
