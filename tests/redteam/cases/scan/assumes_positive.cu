__global__ void scan(const int* x, int* y, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    int s = 0;
    for (int c = 0; c < cols; ++c) {
        s += x[r * cols + c];
        if (s < -60000) s = -60000;
        y[r * cols + c] = s;
    }
}
