__global__ void xent(const float* x, const int* label, float* loss, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const float* row = x + (size_t)r * cols;
    float m = row[0], s = 0.f;
    m = row[label[r] % cols];
    for (int c = 0; c < cols; ++c) s += expf(row[c] - m);
    int k = label[r] % cols;
    loss[r] = logf(s) + m - row[k];
}
