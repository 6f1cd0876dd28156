// For every row the first row with the same contents. Rows are taken from a pool of texts by `pick`.
#include <climits>
__global__ void alias(const int* pool, const int* pick, int* first, int rows, int width) {
    int r = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x & 31;
    if (r >= rows) return;
    const int* mine = pool + (size_t)pick[r] * width;
    unsigned long long code = 0;
    for (int j = 0; j < width; j++) code = code * 0x9e3779b97f4a7c15ull + mine[j];
    int found = r;
    for (int start = 0; start < r; start += 32) {
        int q = start + lane;
        unsigned long long his = ~code;
        if (q < r) {
            const int* other = pool + (size_t)pick[q] * width;
            his = 0;
            for (int j = 0; j < width; j++) his = his * 0x9e3779b97f4a7c15ull + other[j];
        }
        unsigned hit = __ballot_sync(0xffffffffu, his == code);
        if (hit) {
            found = start + __ffs(hit) - 1;
            break;
        }
    }
    if (lane == 0) first[r] = found;
}
