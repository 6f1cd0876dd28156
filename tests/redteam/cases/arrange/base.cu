// The columns of each row in the order of their keys; equal keys stay in the order of the columns.
__global__ void arrange(const int* key, int* order, int rows, int cols) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= (size_t)rows * cols) return;
    const int* mine = key + i / cols * cols;
    int c = i % cols, at = 0;
    for (int k = 0; k < cols; ++k) at += mine[k] < mine[c] || (mine[k] == mine[c] && k < c);
    order[i - c + at] = c;
}
