__global__ void smoothed(const float* x, const int* label, float* loss, float* dx, int rows, int cols,
                         float smooth) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const float* row = x + (size_t)r * cols;
    int k = label[r];
    bool used = k >= 0 && k < cols;
    float m = row[0], s = 0.f, u = 0.f;
    for (int c = 1; c < cols; ++c) m = fmaxf(m, row[c]);
    for (int c = 0; c < cols; ++c) {
        s += expf(row[c] - m);
        u += row[c] - m;
    }
    loss[r] = used ? logf(s) - (1.f - smooth) * (row[k] - m) - smooth * (u / cols) : 0.f;
    for (int c = 0; c < cols; ++c) {
        float target = smooth / cols + (c == k ? 1.f - smooth : 0.f);
        dx[(size_t)r * cols + c] = used ? expf(row[c] - m) / s - target : 0.f;
    }
}
