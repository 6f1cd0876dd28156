// Every number of one list times every number of another.
__global__ void outer(const float* a, const float* b, float* y, int rows, int cols) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= (size_t)rows * cols) return;
    y[i] = a[i / cols] * b[i % cols];
}
