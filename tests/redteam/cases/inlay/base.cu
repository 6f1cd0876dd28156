// a times x goes into the first columns of a wider matrix whose rows begin `stride` apart, plus b times
// what was there; where b is zero, what was there is not looked at. What lies between two rows stays.
__global__ void inlay(const float* x, float* y, int rows, int cols, int stride, float a, float b) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= min(cols, stride)) return;
    for (int r = blockIdx.y; r < rows; r += gridDim.y) {
        size_t at = (size_t)r * stride + c;
        float v = a * x[(size_t)r * cols + c];
        y[at] = b == 0.f ? v : v + b * y[at];
    }
}
