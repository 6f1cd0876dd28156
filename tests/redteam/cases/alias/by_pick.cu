// For every row the first row with the same contents. Rows are taken from a pool of texts by `pick`.
#include <climits>
__global__ void alias(const int* pool, const int* pick, int* first, int rows, int width) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    int own = pick[r];
    const int* mine = pool + (size_t)own * width;
    int found = r;
    for (int q = 0; q < r; q++) {
        int his = pick[q];
        bool same = his == own;
        if (!same) {
            const int* other = pool + (size_t)his * width;
            int j = width;
            while (j > 0 && mine[j - 1] == other[j - 1]) j--;
            same = j == 0;
        }
        if (same) {
            found = q;
            break;
        }
    }
    first[r] = found;
}
