// In how many of the eight directions a word begins at each cell of a grid of letters. A word of one letter begins
// in all eight where its letter is. One thread for each cell; the last letter is
// looked at first, where it is in the grid.
#include <cstdint>

__global__ void crossword(const uint8_t* __restrict__ grid, const uint8_t* __restrict__ word, int* __restrict__ begins,
                          int height, int width, int letters) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    if (c >= width || r >= height) return;
    long long here = (long long)r * width + c;
    long long cells = (long long)height * width;
    int reach = letters - 1;
    int count = 0;
    if (grid[here] == word[0]) {
        for (int d = 0; d < 9; ++d) {
            if (d == 4) continue;
            int dr = d / 3 - 1, dc = d % 3 - 1;
            long long step = (long long)dr * width + dc;
            long long last = here + step * reach;
            if (last < 0 || last >= cells) continue;
            if ((int)(last % width) - c != dc * reach) continue;
            if (grid[last] != word[reach]) continue;
            int k = 1;
            while (k < reach && grid[here + step * k] == word[k]) ++k;
            count += k >= reach;
        }
    }
    begins[here] = count;
}
