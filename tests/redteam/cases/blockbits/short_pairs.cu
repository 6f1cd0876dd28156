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
    unsigned pair[2] = {0, 0};      // two signed 16-bit sums of (same - different) bits a register

    for (int w0 = 0; w0 < w; w0 += 32) {
        unsigned mask = w0 + tx < w - 1 ? 0xffffffffu : w0 + tx == w - 1 ? last : 0u;
        for (int r = ty; r < 32; r += 8) {
            sa[r][tx] = mask && row0 + r < m ? a[(size_t)(row0 + r) * w + w0 + tx] & mask : 0u;
            sb[r][tx] = mask && col0 + r < n ? b[(size_t)(col0 + r) * w + w0 + tx] & mask : 0u;
        }
        __syncthreads();
        int real = min(32, w - w0);
        for (int q = 0; q < real; ++q) {
            unsigned y = sb[tx][q];
            int bits = w0 + q == w - 1 && k % 32 ? k % 32 : 32;
            for (int r = 0; r < 2; ++r) {
                int s = bits - 2 * __popc(sa[ty + 16 * r][q] ^ y);
                int t = bits - 2 * __popc(sa[ty + 16 * r + 8][q] ^ y);
                pair[r] = __vadd2(pair[r], (unsigned)(s & 0xffff) | ((unsigned)t << 16));
            }
        }
        __syncthreads();
    }
    for (int r = 0; r < 4; ++r) {
        int i = row0 + ty + 8 * r, j = col0 + tx;
        if (i < m && j < n) out[(size_t)i * n + j] = (short)(pair[r >> 1] >> (16 * (r & 1)));
    }
}
