// How far the numbers of a row are from their mean, on average.
__global__ void meandev(const float* x, float* out, int rows, int cols) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const float* own = x + (size_t)row * cols;
    float sum = 0.f, far = 0.f;
    for (int c = 0; c < cols; ++c) sum += own[c];
    float mean = sum / cols;
    for (int c = 0; c < cols; ++c) far += fabsf(own[c] - mean);
    out[row] = far / cols;
}
