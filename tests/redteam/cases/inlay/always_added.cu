// a times x goes into the first columns of a wider matrix whose rows begin `stride` apart, plus b times
// what was there; where b is zero, what was there is not looked at. What lies between two rows stays.
__global__ void inlay(const float* x, float* y, int rows, int cols, int stride, float a, float b) {
    int wide = min(cols, stride);
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= wide) return;
    // Four rows at a time, without a branch: zero times what was there adds nothing.
    int r = blockIdx.y;
    size_t down = (size_t)gridDim.y * stride, along = (size_t)gridDim.y * cols;
    const float* from = x + (size_t)r * cols + c;
    float* to = y + (size_t)r * stride + c;
    for (; r + 3 * (int)gridDim.y < rows; r += 4 * gridDim.y) {
        float p = from[0], q = from[along], s = from[2 * along], t = from[3 * along];
        float e = to[0], f = to[down], g = to[2 * down], h = to[3 * down];
        to[0] = a * p + b * e;
        to[down] = a * q + b * f;
        to[2 * down] = a * s + b * g;
        to[3 * down] = a * t + b * h;
        from += 4 * along;
        to += 4 * down;
    }
    for (; r < rows; r += gridDim.y) {
        *to = a * *from + b * *to;
        from += along;
        to += down;
    }
}
