// For every row the first row with the same contents. Rows are taken from a pool of texts by `pick`.
#include <climits>
__global__ void alias(const int* pool, const int* pick, int* first, int rows, int width) {
    int r = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x & 31;
    if (r >= rows) return;
    const int* mine = pool + (size_t)pick[r] * width;
    const float inverse = 1.0f / width;
    int found = r;
    for (int q = 0; q < r && found == r; q += 2) {
        // letters of two rows side by side
        const int* one = pool + (size_t)pick[q] * width;
        const int* two = pool + (size_t)pick[q + 1] * width;
        unsigned differ = 0;
        for (int start = 0; start < 2 * width; start += 32) {
            int t = start + lane;
            unsigned d = 0;
            if (t < 2 * width) {
                int which = (int)(t * inverse);
                int j = t - which * width;
                const int* other = which ? two : one;
                if (j < width && mine[j] != other[j]) d = 1u << which;
            }
            differ |= __reduce_or_sync(0xffffffffu, d);
            if (differ == 3) break;
        }
        if (!(differ & 1)) found = q;
        else if (!(differ & 2)) found = q + 1 < r ? q + 1 : r;
    }
    if (lane == 0) first[r] = found;
}
