// Binary dense layer on the one-bit tensor cores: popc(a xor b) = popc(a) + popc(b) - 2 popc(a and b), so that
// mma.m16n8k256 with .and.popc does the inner product and the row counts are gathered while staging.
// 8 warps: a 64 x 32 tile of outputs, 256 bits of k a step; fragments are read from padded shared memory.

#define TM 64
#define TN 32
#define LD 12                // 8 words a row and 4 of padding: the rows of a fragment fall into distinct banks

extern "C" __global__ void __launch_bounds__(256)
blockbits(const unsigned* a, const unsigned* b, int* out, int m, int n, int k)
{
    __shared__ unsigned sa[TM][LD], sb[TN][LD];
    __shared__ int ca[TM], cb[TN];
    int w = (k + 31) / 32;
    unsigned last = 0xffffffffu >> (32 * w - k);
    int row0 = blockIdx.y * TM, col0 = blockIdx.x * TN;
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    int wr = (warp >> 1) * 16, wc = (warp & 1) * 16;
    int g = lane >> 2, t = lane & 3;
    if (threadIdx.x < TM) ca[threadIdx.x] = 0;
    if (threadIdx.x < TN) cb[threadIdx.x] = 0;
    __syncthreads();

    int acc[2][4] = {};
    for (int w0 = 0; w0 < w; w0 += 8) {
        for (int e = threadIdx.x; e < (TM + TN) * 8; e += blockDim.x) {
            int r = e >> 3, q = w0 + (e & 7);
            bool left = r < TM;
            int row = left ? row0 + r : col0 + r - TM, rows = left ? m : n;
            const unsigned* src = left ? a : b;
            unsigned v = 0;
            if (row < rows && q < w) {
                v = src[(size_t)row * w + q];
                if (q == w - 1) v &= last;
            }
            if (left) { sa[r][e & 7] = v; if (v) atomicAdd(&ca[r], __popc(v)); }
            else { sb[r - TM][e & 7] = v; if (v) atomicAdd(&cb[r - TM], __popc(v)); }
        }
        __syncthreads();
        unsigned fa[4] = {sa[wr + g][t], sa[wr + g + 8][t], sa[wr + g][t + 4], sa[wr + g + 8][t + 4]};
#pragma unroll
        for (int j = 0; j < 2; ++j) {
            unsigned fb[2] = {sb[wc + 8 * j + g][t], sb[wc + 8 * j + g][t + 4]};
            asm volatile("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                         : "+r"(acc[j][0]), "+r"(acc[j][1]), "+r"(acc[j][2]), "+r"(acc[j][3])
                         : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));
        }
        __syncthreads();
    }
#pragma unroll
    for (int j = 0; j < 2; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e) {
            int r = wr + g + (e >> 1) * 8, c = wc + 8 * j + 2 * t + (e & 1);
            if (row0 + r < m && col0 + c < n)
                out[(size_t)(row0 + r) * n + col0 + c] = k - 2 * (ca[r] + cb[c] - 2 * acc[j][e]);
        }
}
