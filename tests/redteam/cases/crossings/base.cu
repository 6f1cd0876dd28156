// How often a row changes between negative and not negative.
__global__ void crossings(const float* x, int* out, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const float* row = x + (size_t)r * cols;
    int s = 0;
    for (int c = 1; c < cols; ++c) s += (row[c - 1] < 0.f) != (row[c] < 0.f);
    out[r] = s;
}
