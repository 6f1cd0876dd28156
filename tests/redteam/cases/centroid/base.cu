// The column at which each row of weights is in balance, rounded down; of a row without weight zero.
__global__ void centroid(const int* w, int* at, int rows, int cols) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const int* mine = w + (size_t)row * cols;
    unsigned long long moment = 0, weight = 0;
    for (int c = 0; c < cols; ++c) {
        moment += (unsigned long long)mine[c] * c;
        weight += mine[c];
    }
    at[row] = weight ? (int)(moment / weight) : 0;
}
