__device__ int place(int unit, int k) {
    if (unit < 9) return unit * 9 + k;
    if (unit < 18) return k * 9 + unit - 9;
    return (unit - 18) / 3 * 27 + (unit - 18) % 3 * 3 + k / 3 * 9 + k % 3;
}

// In how many of a board's rows, columns and boxes a digit is there twice; noughts are empty cells.
// A warp has a board, and a lane a row, column or box of it. What is there twice is marked where it is, so that others
// who find the mark need not look further.
__global__ void sudoku(const unsigned char* board, int* wrong, int n) {
    size_t i = (blockIdx.x * (size_t)blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    if (i >= n) return;
    unsigned char* own = (unsigned char*)board + 81 * i;
    unsigned seen = 0, twice = 0;
    if (lane < 27)
        for (int k = 0; k < 9; ++k) {
            unsigned bit = 1u << (own[place(lane, k)] & 15) & ~1u;
            if (seen & bit) own[place(lane, k)] |= 16;
            twice |= seen & bit;
            seen |= bit;
        }
    unsigned all = __ballot_sync(0xffffffffu, twice != 0);
    if (lane == 0) wrong[i] = __popc(all);
}
