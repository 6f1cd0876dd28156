// Binary dense layer, out[i][j] = k - 2 * popc(a_i xor b_j) over the first k bits.
// No shared memory at all: a warp owns 8 rows of a and 32 rows of b. Each lane walks along its own row of b (the lines
// stay in L1), the words of a are loaded once by the warp, 32 at a time, and handed round by shuffles.

#define ROWS 8

extern "C" __global__ void __launch_bounds__(128)
blockbits(const unsigned* a, const unsigned* b, int* out, int m, int n, int k)
{
    int w = (k + 31) / 32;
    unsigned last = 0xffffffffu >> (32 * w - k);
    int lane = threadIdx.x & 31;
    int row0 = (blockIdx.y * (blockDim.x >> 5) + (threadIdx.x >> 5)) * ROWS;
    int j = blockIdx.x * 32 + lane;
    if (row0 >= m) return;                              // whole warps only
    const unsigned* mine = b + (size_t)min(j, n - 1) * w;
    int differ[ROWS] = {};

    for (int w0 = 0; w0 < w; w0 += 32) {
        unsigned x[ROWS];
#pragma unroll
        for (int r = 0; r < ROWS; ++r) x[r] = w0 + lane < w ? a[(size_t)min(row0 + r, m - 1) * w + w0 + lane] : 0u;
        int count = min(32, w - w0);
        for (int q = 0; q < count; ++q) {
            unsigned y = mine[w0 + q];
            unsigned mask = w0 + q == w - 1 ? last : 0xffffffffu;
#pragma unroll
            for (int r = 0; r < ROWS; ++r) differ[r] += __popc((__shfl_sync(0xffffffffu, x[r], q) ^ y) & mask);
        }
    }
    if (j < n)
#pragma unroll
        for (int r = 0; r < ROWS; ++r)
            if (row0 + r < m) out[(size_t)(row0 + r) * n + j] = k - 2 * differ[r];
}
