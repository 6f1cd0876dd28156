__global__ void ddot(const double* x, const double* y, double* out, int rows, int cols) {
    int r = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x & 31;
    if (r >= rows) return;
    double s = 0.0;
    for (int c = lane; c < cols; c += 32) s = fma(x[(size_t)r * cols + c], y[(size_t)r * cols + c], s);
    for (int w = 16; w; w /= 2) s += __shfl_down_sync(0xffffffffu, s, w);
    if (lane == 0) out[r] = s;
}
