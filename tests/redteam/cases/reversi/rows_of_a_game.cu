__device__ unsigned long long moved(unsigned long long v, int by) { return by > 0 ? v << by : v >> -by; }

__device__ unsigned long long joined(const unsigned* word) { return (unsigned long long)word[1] << 32 | word[0]; }

// Moves in a game of reversi, all squares at once: one's discs walk over the other's, as far as rows of a game get.
// Sideways and across they do so in the inner columns alone, as a row has to end within the board.
__global__ void reversi(const unsigned* own, const unsigned* other, unsigned* moves, int n) {
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= n) return;
    unsigned long long mine = joined(own + 2 * (size_t)b), its = joined(other + 2 * (size_t)b) & ~mine, found = 0;
    const int ways[8] = {1, -1, 7, -7, 8, -8, 9, -9};
#pragma unroll
    for (int d = 0; d < 8; ++d) {
        unsigned long long over = d / 2 == 2 ? its : its & 0x7e7e7e7e7e7e7e7eull, row = moved(mine, ways[d]) & over;
        for (int step = 0; step < 4; ++step) row |= moved(row, ways[d]) & over;
        found |= moved(row, ways[d]);
    }
    found &= ~(mine | its);
    moves[2 * (size_t)b] = (unsigned)found;
    moves[2 * (size_t)b + 1] = (unsigned)(found >> 32);
}
