__device__ int place(int unit, int k) {
    if (unit < 9) return unit * 9 + k;
    if (unit < 18) return k * 9 + unit - 9;
    return (unit - 18) / 3 * 27 + (unit - 18) % 3 * 3 + k / 3 * 9 + k % 3;
}

// In how many of a board's rows, columns and boxes a digit is there twice; noughts are empty cells.
__global__ void sudoku(const unsigned char* board, int* wrong, int n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned char* own = board + 81 * i;
    int many = 0;
    for (int u = 0; u < 27; ++u) {
        bool twice = false;
        for (int k = 0; k < 9; ++k)
            for (int m = 0; m < k; ++m) {
                int v = own[place(u, k)] & 15;
                if (v && v == (own[place(u, m)] & 15)) twice = true;
            }
        many += twice;
    }
    wrong[i] = many;
}
