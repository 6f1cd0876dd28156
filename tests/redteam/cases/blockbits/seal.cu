// Binary dense layer: bits of +-1 packed 32 to a word, out[i][j] = k - 2 * popc(a_i xor b_j) over the first k bits.
// a is [m][w], b is [n][w] with w = ceil(k / 32); bits of the last word beyond k hold anything and do not count.
// 32 x 32 tile of outputs a block of 32 x 8 threads, both operands through shared memory.

// carry-save adder: x + y + z = 2 * carry + sum, bit by bit; two lop3 instead of two popc
__device__ __forceinline__ void csa(unsigned& carry, unsigned& sum, unsigned x, unsigned y)
{
    unsigned s = sum;
    carry = (s & x) | (s & y) | (x & y);
    sum = s ^ x ^ y;
}

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
        // Harley-Seal: the 32 xor words of a slab go through a tree of adders, one popc for each 8 words
        for (int r = 0; r < 4; ++r) {
            unsigned one = 0, two = 0, four = 0;
            int eights = 0;
#pragma unroll
            for (int q = 0; q < 32; q += 8) {
                unsigned x[8], t0, t1, f0, f1, e;
#pragma unroll
                for (int z = 0; z < 8; ++z) x[z] = sa[ty + 8 * r][q + z] ^ sb[tx][q + z];
                csa(t0, one, x[0], x[1]);
                csa(t1, one, x[2], x[3]);
                csa(f0, two, t0, t1);
                csa(t0, one, x[4], x[5]);
                csa(t1, one, x[6], x[7]);
                csa(f1, two, t0, t1);
                csa(e, four, f0, f1);
                eights += __popc(e);
            }
            differ[r] += 8 * eights + 4 * __popc(four) + 2 * __popc(two) + __popc(one);
        }
        __syncthreads();
    }
    for (int r = 0; r < 4; ++r) {
        int i = row0 + ty + 8 * r, j = col0 + tx;
        if (i < m && j < n) out[(size_t)i * n + j] = k - 2 * differ[r];
    }
}
