// For every row the first row with the same contents. Rows are taken from a pool of texts by `pick`.
#include <climits>
__global__ void alias(const int* pool, const int* pick, int* first, int rows, int width) {
    int r = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x & 31;
    if (r >= rows) return;
    const int* mine = pool + (size_t)pick[r] * width;
    int found = r;
    for (int q = 0; q < r; q++) {
        const int* other = pool + (size_t)pick[q] * width;
        bool same = true;
        for (int start = 0; start < width && same; start += 1024) {
            // each term is less than 2^20: 1024 of them do not wrap
            unsigned d = 0;
            for (int j = start + lane; j < width && j < start + 1024; j += 32) d += mine[j] ^ other[j];
            same = __reduce_add_sync(0xffffffffu, d) == 0;
        }
        if (same) {
            found = q;
            break;
        }
    }
    if (lane == 0) first[r] = found;
}
