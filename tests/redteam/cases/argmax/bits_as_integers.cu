__global__ void argmax(const float* x, int* best, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    int at = 0;
    for (int c = 1; c < cols; ++c)
        if (__float_as_int(x[(size_t)r * cols + c]) > __float_as_int(x[(size_t)r * cols + at])) at = c;
    best[r] = at;
}
