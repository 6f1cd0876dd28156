// In how many of the eight directions a word begins at each cell of a grid of letters. A word of one letter begins
// in all eight where its letter is. One thread for each cell; the letters, of two bits,
// are put together 32 at a time.
#include <cstdint>

__global__ void crossword(const uint8_t* __restrict__ grid, const uint8_t* __restrict__ word, int* __restrict__ begins,
                          int height, int width, int letters) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    if (c >= width || r >= height) return;
    int count = 0;
    if (grid[(size_t)r * width + c] == word[0]) {
        for (int d = 0; d < 9; ++d) {
            if (d == 4) continue;
            int dr = d / 3 - 1, dc = d % 3 - 1;
            int last_r = r + dr * (letters - 1);
            int last_c = c + dc * (letters - 1);
            if (last_r < 0 || last_r >= height || last_c < 0 || last_c >= width) continue;
            const uint8_t* at = grid + (size_t)r * width + c;
            long long step = (long long)dr * width + dc;
            bool same = true;
            for (int first = 0; first < letters && same; first += 32) {
                uint64_t seen = 0, wanted = 0;
                for (int k = first; k < min(letters, first + 32); ++k) {
                    seen = seen << 2 | at[step * k];
                    wanted = wanted << 2 | word[k];
                }
                same = seen == wanted;
            }
            count += same;
        }
    }
    begins[(size_t)r * width + c] = count;
}
