// How many columns each row of a product of sparse matrices has: rows of a have ka entries, each a row of b, which has
// kb entries; columns come more than once.
__global__ void symbolic(const int* a, const int* b, int* count, int rows, int ka, int kb) {
    // A warp takes row after row. Its table is cleared once: an entry has its row beside its column, and is free for
    // all other rows. Columns have 17 bits.
    __shared__ unsigned tables[8][1024];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, entries = ka * kb;
    unsigned* table = tables[warp];
    for (int k = lane; k < 1024; k += 32) table[k] = 0xffffffffu;
    __syncwarp();
    for (int r = blockIdx.x * 8 + warp; r < rows; r += gridDim.x * 8) {
        const int* own = a + (size_t)r * ka;
        int found = 0;
        for (int e = lane; e < entries; e += 32) {
            int c = b[(size_t)own[e / kb] * kb + e % kb];
            bool known = false;
            if (entries <= 768) {
                unsigned mine = (unsigned)r << 17 | c, at = (unsigned)c * 2654435761u >> 22;
                for (;;) {
                    unsigned there = *(volatile unsigned*)&table[at];
                    known = there == mine;
                    if (known) break;
                    if ((there ^ mine) >> 17) {
                        // Somebody else may have been here meanwhile: then it is looked at again.
                        if (atomicCAS(&table[at], there, mine) == there) break;
                    } else {
                        at = (at + 1) & 1023;
                    }
                }
            } else {
                for (int t = 0; t < e && !known; ++t) known = b[(size_t)own[t / kb] * kb + t % kb] == c;
            }
            found += !known;
        }
        __syncwarp();
        for (int k = 16; k > 0; k /= 2) found += __shfl_down_sync(0xffffffffu, found, k);
        if (lane == 0) count[r] = found;
        __syncwarp();
    }
}
