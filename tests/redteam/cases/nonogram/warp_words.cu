#include <cstdint>

// Which run of black cells is the first that its row's clues do not allow? -1 where all are as they should be.
// A row's clues end with the first zero or after `k`; one that is missing or left over is a fault at its place.
__global__ void nonogram(const uint8_t* cells, const uint8_t* clues, int* fault, int rows, int w, int k)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x & 31;
    if (row >= rows)
        return;
    const uint8_t* cell = cells + (size_t)row * w;
    const uint8_t* clue = clues + (size_t)row * k;
    int place = 0, open = 0, result = -1;
    for (int first = 0; first < w && result < 0; first += 32) {
        unsigned word = __ballot_sync(0xffffffffu, first + lane < w && cell[first + lane] != 0);
        int at = 0;
        while (at < 32 && result < 0) {
            unsigned rest = word >> at;
            if (rest & 1) {
                int length = rest == 0xffffffffu ? 32 : __ffs((int)~rest) - 1;
                open += length;
                at += length;
                if (at == 32)
                    break;
            }
            if (open > 0) {
                int wanted = place < k ? clue[place] : 0;
                if (open != wanted)
                    result = place;
                ++place;
                open = 0;
            }
            rest = word >> at;
            at = rest == 0 ? 32 : at + __ffs((int)rest) - 1;
        }
    }
    if (result < 0 && place < k && clue[place] != 0)
        result = place;
    if (lane == 0)
        fault[row] = result;
}
