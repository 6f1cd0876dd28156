// How alike fingerprints are: the bits that both have among those that one of them has; all alike where neither has
// any. Four counts share a register, which is emptied after
// each tile.
__global__ void tanimoto(const unsigned* a, const unsigned* b, float* out, int n, int m, int words) {
    int t = threadIdx.y * 32 + threadIdx.x, i = blockIdx.y * 8 + threadIdx.y, j = blockIdx.x * 128 + threadIdx.x;
    __shared__ unsigned right[128][17], left[8][17];
    unsigned both[4] = {}, packed = 0;
    int own = 0, other[4] = {};
    for (int begin = 0; begin < words; begin += 16) {
        for (int k = t; k < 128 * 16; k += 256) {
            int row = blockIdx.x * 128 + k / 16, w = begin + k % 16;
            right[k / 16][k % 16] = row < m && w < words ? b[(size_t)row * words + w] : 0u;
        }
        if (t < 128) {
            int row = blockIdx.y * 8 + t / 16, w = begin + t % 16;
            left[t / 16][t % 16] = row < n && w < words ? a[(size_t)row * words + w] : 0u;
        }
        __syncthreads();
        for (int w = 0; w < 16; ++w) {
            unsigned x = left[threadIdx.y][w];
            own += __popc(x);
            for (int k = 0; k < 4; ++k) {
                unsigned y = right[threadIdx.x + 32 * k][w];
                packed += (unsigned)__popc(x & y) << 8 * k;
                other[k] += __popc(y);
            }
        }
        for (int k = 0; k < 4; ++k) both[k] += packed >> 8 * k & 255u;
        packed = 0;
        __syncthreads();
    }
    if (i >= n) return;
    for (int k = 0; k < 4; ++k) {
        if (j + 32 * k >= m) break;
        int either = own + other[k] - (int)both[k];
        out[(size_t)i * m + j + 32 * k] = either ? __fdiv_rn((float)both[k], (float)either) : 1.f;
    }
}
