// Every number of one list times every number of another.
__global__ void outer(const float* a, const float* b, float* y, int rows, int cols) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= (size_t)rows * cols) return;
    // A division of floats is rounded rightly, and far shorter than one of whole numbers.
    int r = (int)__fdiv_rn((float)i, (float)cols);
    int c = (int)(i - (size_t)r * cols);
    y[i] = a[r] * b[c];
}
