__global__ void order(const int* key, int* sorted, unsigned short* from, int rows, int cols) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * cols) return;
    int r = i / cols, c = i % cols, rank = 0;
    for (int k = 0; k < cols; ++k) {
        int other = key[r * cols + k];
        rank += other < key[i] || (other == key[i] && k < c);
    }
    sorted[r * cols + rank] = key[i];
    from[r * cols + rank] = c;
}
