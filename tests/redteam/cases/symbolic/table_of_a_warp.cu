// How many columns each row of a product of sparse matrices has: rows of a have ka entries, each a row of b, which has
// kb entries; columns come more than once.
__global__ void symbolic(const int* a, const int* b, int* count, int rows, int ka, int kb) {
    // A warp a row, with a hash table that is never more than three quarters full; longer rows are compared.
    const int none = 0x80000000;
    __shared__ int tables[8][512];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, r = blockIdx.x * 8 + warp, entries = ka * kb;
    if (r >= rows) return;
    const int* own = a + (size_t)r * ka;
    int* table = tables[warp];
    int found = 0;
    if (entries <= 384) {
        for (int k = lane; k < 512; k += 32) table[k] = none;
        __syncwarp();
        for (int e = lane; e < entries; e += 32) {
            int c = b[(size_t)own[e / kb] * kb + e % kb];
            unsigned at = (unsigned)c * 2654435761u >> 23;
            for (;; at = (at + 1) & 511) {
                int old = atomicCAS(&table[at], none, c);
                found += old == none;
                if (old == none || old == c) break;
            }
        }
    } else {
        for (int e = lane; e < entries; e += 32) {
            int c = b[(size_t)own[e / kb] * kb + e % kb];
            bool known = false;
            for (int t = 0; t < e && !known; ++t) known = b[(size_t)own[t / kb] * kb + t % kb] == c;
            found += !known;
        }
    }
    __syncwarp();
    for (int k = 16; k > 0; k /= 2) found += __shfl_down_sync(0xffffffffu, found, k);
    if (lane == 0) count[r] = found;
}
