__global__ void ddot(const double* x, const double* y, double* out, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    double s = 0.0;
    for (int c = 0; c < cols; ++c) s += x[(size_t)r * cols + c] * y[(size_t)r * cols + c];
    out[r] = s;
}
