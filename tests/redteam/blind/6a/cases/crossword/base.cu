// In how many of the eight directions a word begins at each cell of a grid of letters. A word of one letter begins
// in all eight where its letter is. One thread for each cell.
#include <cstdint>

__global__ void crossword(const uint8_t* __restrict__ grid, const uint8_t* __restrict__ word, int* __restrict__ begins,
                          int height, int width, int letters) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    if (c >= width || r >= height) return;
    int count = 0;
    for (int dr = -1; dr <= 1; ++dr) {
        for (int dc = -1; dc <= 1; ++dc) {
            if (dr == 0 && dc == 0) continue;
            int last_r = r + dr * (letters - 1);
            int last_c = c + dc * (letters - 1);
            if (last_r < 0 || last_r >= height || last_c < 0 || last_c >= width) continue;
            bool same = true;
            for (int k = 0; k < letters && same; ++k)
                same = grid[(size_t)(r + dr * k) * width + (c + dc * k)] == word[k];
            if (same) ++count;
        }
    }
    begins[(size_t)r * width + c] = count;
}
