// In how many of the eight directions a word begins at each cell of a grid of letters. A word of one letter begins
// in all eight where its letter is. One thread for each cell; a bit for each direction
// that is still alive.
#include <cstdint>

__global__ void crossword(const uint8_t* __restrict__ grid, const uint8_t* __restrict__ word, int* __restrict__ begins,
                          int height, int width, int letters) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    if (c >= width || r >= height) return;
    int reach = letters - 1;
    bool up = r >= reach, down = r + reach < height, left = c >= reach, right = c + reach < width;
    unsigned alive = 0;
    if (grid[(size_t)r * width + c] == word[0])
        alive = (up && left) | (up << 1) | ((up && right) << 2) | (left << 3) | (right << 4) | ((down && left) << 5) |
                (down << 6) | ((down && right) << 7);
    for (int k = 1; k < letters && alive; ++k) {
        int letter = word[k];
        for (unsigned rest = alive; rest; rest &= rest - 1) {
            int bit = __ffs((int)rest) - 1;
            int place = bit < 4 ? bit : bit + 1;
            int dr = place / 3 - 1, dc = place % 3 - 1;
            if (grid[(size_t)(r + dr * k) * width + (c + dc * k)] != letter) alive &= ~(1u << bit);
        }
    }
    begins[(size_t)r * width + c] = __popc(alive);
}
