__global__ void ddot(const double* x, const double* y, double* out, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float s = 0.f;
    for (int c = 0; c < cols; ++c) s += (float)x[(size_t)r * cols + c] * (float)y[(size_t)r * cols + c];
    out[r] = s;
}
