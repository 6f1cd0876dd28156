__global__ void xent(const float* x, const int* label, float* loss, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const float* row = x + (size_t)r * cols;
    float m = row[0], s = 0.f;
    for (int c = 1; c < cols; ++c) m = fmaxf(m, row[c]);
    float t = 0.f;
    for (int c = 0; c + 1 < cols; c += 2) {
        s += expf(row[c] - m);
        t += expf(row[c + 1] - m);
    }
    if (cols & 1) s += expf(row[cols - 1] - m);
    s += t;
    int k = label[r] % cols;
    loss[r] = logf(s) + m - row[k];
}
