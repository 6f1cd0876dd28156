// Where a sparse matrix has an entry: the product of a row of a and a row of b there, times the entry.
__global__ void sddmm(const int* row, const int* col, const float* value, const float* a, const float* b, float* out,
                      int m, int k) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= m) return;
    const float *x = a + (size_t)row[e] * k, *y = b + (size_t)col[e] * k;
    float sum = 0.f;
    for (int j = 0; j < k; ++j) sum += x[j] * y[j];
    out[e] = value[e] * sum;
}
