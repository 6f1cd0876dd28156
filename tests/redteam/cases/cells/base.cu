// Row and column of each cell of a grid, by its number.
__global__ void cells(const unsigned* cell, unsigned* row, unsigned* column, int n,
                      unsigned width) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    row[i] = cell[i] / width;
    column[i] = cell[i] % width;
}
