// Sparse matrix times vector, y = A x, with A in compressed sparse row (CSR) format.
// One thread computes one row.

__global__ void spmv_csr(int num_rows, const int *row_ptr, const int *col_idx,
                         const float *values, const float *x, float *y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < num_rows) {
        float dot = 0.0f;
        int row_start = row_ptr[row];
        int row_end = row_ptr[row + 1];
        for (int k = row_start; k < row_end; k++) {
            dot += values[k] * x[col_idx[k]];
        }
        y[row] = dot;
    }
}
