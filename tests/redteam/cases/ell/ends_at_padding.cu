// Rows of a sparse matrix, padded to one width: column -1 is no entry.
__global__ void ell(const int* column, const float* value, const float* x, float* y, int rows,
                    int width) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float s = 0.f;
    for (int k = 0; k < width; ++k) {
        int c = column[(size_t)k * rows + row];
        if (c < 0) break;
        s += value[(size_t)k * rows + row] * x[c];
    }
    y[row] = s;
}
