__global__ void scan(const int* x, int* y, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float s = 0.f;
    for (int c = 0; c < cols; ++c) {
        s += x[r * cols + c];
        y[r * cols + c] = (int)(__uint_as_float(__float_as_uint(s) & 0xffff8000u));
    }
}
