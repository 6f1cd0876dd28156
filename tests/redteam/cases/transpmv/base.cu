// Adds the product of a transposed sparse matrix and a vector to another: rows have k entries each, in any columns.
__global__ void transpmv(const int* col, const float* val, const float* x, float* y, int rows, int k) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows) return;
    float v = x[i];
    for (int j = 0; j < k; ++j) atomicAdd(&y[col[(size_t)i * k + j]], val[(size_t)i * k + j] * v);
}
