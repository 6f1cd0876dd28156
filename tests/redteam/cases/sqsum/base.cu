// The sum of squares of each row.
__global__ void sqsum(const float* x, float* out, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float sum = 0.f;
    for (int c = 0; c < cols; ++c) {
        float v = x[(size_t)r * cols + c];
        sum += v * v;
    }
    out[r] = sum;
}
