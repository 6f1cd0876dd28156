// For every row the first row with the same contents. Rows are taken from a pool of texts by `pick`.
#include <climits>
__global__ void alias(const int* pool, const int* pick, int* first, int rows, int width) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const int* mine = pool + (size_t)pick[r] * width;
    int found = r;
    for (int q = 0; q < r; q++) {
        const int* other = pool + (size_t)pick[q] * width;
        int j = 0;
        while (j < width && mine[j] == other[j]) j++;
        if (j == width) {
            found = q;
            break;
        }
    }
    first[r] = found;
}
