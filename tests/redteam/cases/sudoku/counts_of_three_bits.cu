__device__ int place(int unit, int k) {
    if (unit < 9) return unit * 9 + k;
    if (unit < 18) return k * 9 + unit - 9;
    return (unit - 18) / 3 * 27 + (unit - 18) % 3 * 3 + k / 3 * 9 + k % 3;
}

// In how many of a board's rows, columns and boxes a digit is there twice; noughts are empty cells.
// A warp has a board, and a lane a row, column or box of it, whose digits are all counted in one number.
__global__ void sudoku(const unsigned char* board, int* wrong, int n) {
    size_t i = (blockIdx.x * (size_t)blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    if (i >= n) return;
    const unsigned char* own = board + 81 * i;
    unsigned long long counts = 0;
    if (lane < 27)
        for (int k = 0; k < 9; ++k) counts += 1ull << 3 * (own[place(lane, k)] & 15);
    // More than one of any digit but nought.
    unsigned all = __ballot_sync(0xffffffffu, (counts & 06666666666666660ull) != 0);
    if (lane == 0) wrong[i] = __popc(all);
}
