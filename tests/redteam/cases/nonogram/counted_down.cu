#include <cstdint>

// Which run of black cells is the first that its row's clues do not allow? -1 where all are as they should be.
// A row's clues end with the first zero or after `k`; one that is missing or left over is a fault at its place.
__global__ void nonogram(const uint8_t* cells, const uint8_t* clues, int* fault, int rows, int w, int k)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    const uint8_t* cell = cells + (size_t)row * w;
    const uint8_t* clue = clues + (size_t)row * k;
    int place = 0, result = -1, before = 0;
    int left = k > 0 ? clue[0] : 0;
    for (int i = 0; i < w; ++i) {
        int black = cell[i] != 0;
        if (black) {
            if (left == 0) {
                result = place;
                break;
            }
            --left;
        } else if (before) {
            if (left != 0) {
                result = place;
                break;
            }
            ++place;
            left = place < k ? clue[place] : 0;
        }
        before = black;
    }
    if (result < 0) {
        if (before && left == 0) {
            ++place;
            left = place < k ? clue[place] : 0;
        }
        if (left != 0)
            result = place;
    }
    fault[row] = result;
}
