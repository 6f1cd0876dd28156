// In how many of the eight directions a word begins at each cell of a grid of letters. A word of one letter begins
// in all eight where its letter is. One thread for each cell; only neighbours that are
// the second letter are followed.
#include <cstdint>

__global__ void crossword(const uint8_t* __restrict__ grid, const uint8_t* __restrict__ word, int* __restrict__ begins,
                          int height, int width, int letters) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    if (c >= width || r >= height) return;
    int count = 0;
    const uint8_t* at = grid + (size_t)r * width + c;
    if (*at == word[0]) {
        for (int d = 0; d < 9; ++d) {
            if (d == 4) continue;
            int dr = d / 3 - 1, dc = d % 3 - 1;
            int next_r = r + dr, next_c = c + dc;
            if (next_r < 0 || next_r >= height || next_c < 0 || next_c >= width) continue;
            long long step = (long long)dr * width + dc;
            if (letters > 1 && at[step] != word[1]) continue;
            int last_r = r + dr * (letters - 1);
            int last_c = c + dc * (letters - 1);
            if (last_r < 0 || last_r >= height || last_c < 0 || last_c >= width) continue;
            bool same = true;
            for (int k = 2; k < letters && same; ++k) same = at[step * k] == word[k];
            if (same) ++count;
        }
    }
    begins[(size_t)r * width + c] = count;
}
