// Where a place has no value it is given the last one before it in its row, or zero.
__global__ void lastseen(const float* x, const unsigned char* there, float* y, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float last = 0.f;
    for (int c = 0; c < cols; ++c) {
        size_t i = (size_t)r * cols + c;
        if (there[i]) last = x[i];
        y[i] = last;
    }
}
