#include <stdint.h>

// Diagonal mobility of White in many chess positions.
// A position is twelve bitboards of eight bytes (white pawn, knight, bishop, rook, queen,
// king, then the black ones); byte = rank, bit = file. Boards may overlap (editor positions).
// reach: squares on which a white bishop or queen bears along a diagonal, own men included.
// moves: diagonal moves and captures, one for each man and each square it may go to.
static __device__ uint64_t bitboard(const uint8_t* rows)
{
    uint64_t b = 0;
    for (int r = 0; r < 8; r++)
        b |= (uint64_t)rows[r] << (8 * r);
    return b;
}

extern "C" __global__ void bishop(const uint8_t* men, uint64_t* reach, int* moves, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const uint8_t* p = men + (size_t)i * 96;
    uint64_t own = 0, all = 0, sliders = 0;
    for (int k = 0; k < 12; k++) {
        uint64_t b = bitboard(p + 8 * k);
        all |= b;
        if (k < 6)
            own |= b;
        if (k == 2 || k == 4)
            sliders |= b;
    }
    uint64_t seen = 0;
    int count = 0;
    for (int square = 0; square < 64; square++) {
        if (!((sliders >> square) & 1))
            continue;
        for (int d = 0; d < 4; d++) {
            int df = (d & 1) ? 1 : -1, dr = (d & 2) ? 1 : -1;
            int f = (square & 7) + df, r = (square >> 3) + dr;
            while (f >= 0 && f < 8 && r >= 0 && r < 8) {
                uint64_t bit = 1ull << (8 * r + f);
                seen |= bit;
                if (!(own & bit))
                    count++;
                if (all & bit)
                    break;
                f += df;
                r += dr;
            }
        }
    }
    reach[i] = seen;
    moves[i] = count;
}
