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
    int place = 0, open = 0, result = -1;
    for (int first = 0; first < w && result < 0; first += 64) {
        int width = min(64, w - first);
        unsigned long long word = 0;
        for (int i = 0; i < width; ++i)
            word |= (unsigned long long)(cell[first + i] != 0) << i;
        int at = 0;
        while (at < width) {
            unsigned long long rest = word >> at;
            if (rest & 1) {
                int length = rest == ~0ull ? 64 : __ffsll((long long)~rest) - 1;
                at += length;
                open += length;
                if (at == width && first + width < w)
                    break;
            } else {
                int blank = rest == 0 ? width - at : __ffsll((long long)rest) - 1;
                at += blank;
            }
            if (open > 0) {
                int wanted = place < k ? clue[place] : 0;
                if (open != wanted) {
                    result = place;
                    break;
                }
                ++place;
                open = 0;
            }
        }
    }
    if (result < 0 && place < k && clue[place] != 0)
        result = place;
    fault[row] = result;
}
