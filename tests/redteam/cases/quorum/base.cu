// What more than half of each row's votes are for; -1 if nothing is.
__global__ void quorum(const int* vote, int* chosen, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const int* row = vote + (size_t)r * cols;
    int left = 0, who = -1, all = 0;
    for (int k = 0; k < cols; ++k) {
        if (left == 0) who = row[k];
        left += row[k] == who ? 1 : -1;
    }
    for (int k = 0; k < cols; ++k) all += row[k] == who;
    chosen[r] = 2ll * all > cols ? who : -1;
}
