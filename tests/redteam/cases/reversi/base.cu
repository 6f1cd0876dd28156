// Moves in a game of reversi. A board has 64 squares in two words for each side; where both have a disc it is one's own.
// One may move to an empty square from which, in one of eight directions, a row of the other's discs ends at one's own.
__global__ void reversi(const unsigned* own, const unsigned* other, unsigned* moves, int n) {
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= n) return;
    unsigned mine[2], its[2], found[2] = {0u, 0u};
    for (int w = 0; w < 2; ++w) {
        mine[w] = own[2 * (size_t)b + w];
        its[w] = other[2 * (size_t)b + w] & ~mine[w];
    }
    for (int s = 0; s < 64; ++s) {
        if ((mine[s / 32] | its[s / 32]) >> s % 32 & 1) continue;
        for (int d = 0; d < 9; ++d) {
            int dx = d % 3 - 1, dy = d / 3 - 1, x = s % 8 + dx, y = s / 8 + dy, row = 0;
            if (d == 4) continue;
            while (x >= 0 && x < 8 && y >= 0 && y < 8 && (its[y / 4] >> (8 * y + x) % 32 & 1)) {
                x += dx;
                y += dy;
                ++row;
            }
            if (row > 0 && x >= 0 && x < 8 && y >= 0 && y < 8 && (mine[y / 4] >> (8 * y + x) % 32 & 1))
                found[s / 32] |= 1u << s % 32;
        }
    }
    moves[2 * (size_t)b] = found[0];
    moves[2 * (size_t)b + 1] = found[1];
}
