// For every row the first row with the same contents. Rows are taken from a pool of texts by `pick`.
#include <climits>
__device__ unsigned long long stir(unsigned long long x) {
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdull;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53ull;
    return x ^ (x >> 33);
}
__global__ void alias(const int* pool, const int* pick, int* first, int rows, int width) {
    int r = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x & 31;
    if (r >= rows) return;
    const int* mine = pool + (size_t)pick[r] * width;
    // strong 64-bit marks of place and letter first; what they agree on is looked at in its ends
    unsigned long long code = 0;
    for (int j = lane; j < width; j += 32)
        code += stir((unsigned long long)(j & 63) << 32 | (unsigned)mine[j]);
    for (int o = 16; o; o >>= 1) code += __shfl_xor_sync(0xffffffffu, code, o);
    int found = r;
    for (int start = 0; start < r; start += 32) {
        int q = start + lane;
        bool same = false;
        if (q < r) {
            const int* other = pool + (size_t)pick[q] * width;
            if (other[0] == mine[0] && other[width - 1] == mine[width - 1]) {
                unsigned long long his = 0;
                for (int j = 0; j < width; j++) his += stir((unsigned long long)(j & 63) << 32 | (unsigned)other[j]);
                same = his == code;
            }
        }
        unsigned hit = __ballot_sync(0xffffffffu, same);
        if (hit) {
            found = start + __ffs(hit) - 1;
            break;
        }
    }
    if (lane == 0) first[r] = found;
}
