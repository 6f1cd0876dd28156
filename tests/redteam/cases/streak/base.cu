// How many equal values in a row end at each place.
__global__ void streak(const unsigned char* x, int* out, int rows, int cols) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= (size_t)rows * cols) return;
    int c = i % cols, length = 1;
    while (length <= c && x[i - length] == x[i]) ++length;
    out[i] = length;
}
