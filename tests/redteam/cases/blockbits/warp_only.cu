// Binary dense layer: bits of +-1 packed 32 to a word, out[i][j] = k - 2 * popc(a_i xor b_j) over the first k bits.
// a is [m][w], b is [n][w] with w = ceil(k / 32); bits of the last word beyond k hold anything and do not count.
// 32 x 32 tile of outputs a block of 32 x 8 threads, both operands through shared memory.

extern "C" __global__ void __launch_bounds__(256)
blockbits(const unsigned* a, const unsigned* b, int* out, int m, int n, int k)
{
    __shared__ unsigned sa[32][33], sb[32][33];
    int w = (k + 31) / 32;
    unsigned last = k % 32 ? (1u << (k % 32)) - 1u : 0xffffffffu;
    int row0 = blockIdx.y * 32, col0 = blockIdx.x * 32;
    int tx = threadIdx.x, ty = threadIdx.y;
    int differ[4] = {0, 0, 0, 0};

    for (int w0 = 0; w0 < w; w0 += 32) {
        unsigned mask = w0 + tx < w - 1 ? 0xffffffffu : w0 + tx == w - 1 ? last : 0u;
        for (int r = ty; r < 32; r += 8) {
            sa[r][tx] = mask && row0 + r < m ? a[(size_t)(row0 + r) * w + w0 + tx] & mask : 0u;
            sb[r][tx] = mask && col0 + r < n ? b[(size_t)(col0 + r) * w + w0 + tx] & mask : 0u;
        }
        __syncthreads();
        for (int q = 0; q < 32; ++q) {
            unsigned y = sb[tx][q];
            for (int r = 0; r < 4; ++r) differ[r] += __popc(sa[ty + 8 * r][q] ^ y);
        }
        // a warp is one ty: it stores and counts the same rows ty, ty + 8 ... in both loops
        __syncwarp();
    }
    for (int r = 0; r < 4; ++r) {
        int i = row0 + ty + 8 * r, j = col0 + tx;
        if (i < m && j < n) out[(size_t)i * n + j] = k - 2 * differ[r];
    }
}
