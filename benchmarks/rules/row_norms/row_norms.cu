// Length of each row; a small matrix gets a small block, as only the running program knows.
__global__ void row_norms(const float *a, float *norm, int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float sum = 0.0f;
        for (int j = 0; j < cols; j++)
            sum += a[row * cols + j] * a[row * cols + j];
        norm[row] = sqrtf(sum);
    }
}

void norms(const float *a, float *norm, int rows, int cols)
{
    int threads = rows < 200 ? rows : 200;
    int blocks = (rows + threads - 1) / threads;
    row_norms<<<blocks, threads>>>(a, norm, rows, cols);
}
