__global__ void argmax(const float* x, int* best, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    int at = 0;
    float top = 0.f;
    for (int c = 1; c < cols; ++c)
        if (x[(size_t)r * cols + c] > top) top = x[(size_t)r * cols + c], at = c;
    best[r] = at;
}
