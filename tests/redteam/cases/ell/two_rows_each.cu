__global__ void ell(const int* column, const float* value, const float* x, float* y, int rows,
                    int width) {
    int row = blockIdx.x * blockDim.x + threadIdx.x, half = (rows + 1) / 2;
    if (row >= half) return;
    bool both = row + half < rows;
    float s = 0.f, r = 0.f;
    for (int k = 0; k < width; ++k) {
        size_t at = (size_t)k * rows + row;
        int c = column[at], d = both ? column[at + half] : -1;
        if (c >= 0) s += value[at] * x[c];
        if (d >= 0) r += value[at + half] * x[d];
    }
    y[row] = s;
    if (both) y[row + half] = r;
}
