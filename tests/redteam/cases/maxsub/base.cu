// The largest sum of neighbours in each row; at least one of them is taken.
__global__ void maxsub(const int* x, long long* best, int rows, int cols) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const int* at = x + row * (size_t)cols;
    long long here = at[0], most = here;
    for (int c = 1; c < cols; ++c) {
        here = max(here, 0ll) + at[c];
        most = max(most, here);
    }
    best[row] = most;
}
