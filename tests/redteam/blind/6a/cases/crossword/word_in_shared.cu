// In how many of the eight directions a word begins at each cell of a grid of letters. A word of one letter begins
// in all eight where its letter is. One thread for each cell; the first 128 letters of
// the word are kept by the block.
#include <cstdint>

__global__ void crossword(const uint8_t* __restrict__ grid, const uint8_t* __restrict__ word, int* __restrict__ begins,
                          int height, int width, int letters) {
    __shared__ uint8_t kept[128];
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    int id = threadIdx.y * blockDim.x + threadIdx.x;
    for (int k = id; k < min(letters, 128); k += blockDim.x * blockDim.y) kept[k] = word[k];
    __syncthreads();
    bool in = c < width && r < height;
    bool first = in && grid[(size_t)r * width + c] == kept[0];
    int count = 0;
    if (first) {
        for (int dr = -1; dr <= 1; ++dr) {
            for (int dc = -1; dc <= 1; ++dc) {
                if (dr == 0 && dc == 0) continue;
                int last_r = r + dr * (letters - 1);
                int last_c = c + dc * (letters - 1);
                if (last_r < 0 || last_r >= height || last_c < 0 || last_c >= width) continue;
                int k = letters - 1;
                while (k > 0 && grid[(size_t)(r + dr * k) * width + (c + dc * k)] == (k < 128 ? kept[k] : word[k])) --k;
                count += k <= 0;
            }
        }
    }
    if (in) begins[(size_t)r * width + c] = count;
}
